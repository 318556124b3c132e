"""How the inputs of a page look."""

from __future__ import annotations

INPUTS = """
.go { position: sticky; bottom: 8px; top: 8px; z-index: 40; background: var(--body-background-fill); }
/* on a narrow page the results come before the columns and options; `script.SCRIPT` moves what keys reach too */
@media (max-width: 767px) {
  .halves { flex-direction: column !important; flex-wrap: nowrap !important; }
  .inputs-column { display: contents !important; }
  .halves > *, .inputs-column > * { width: 100%; }
  .choices { order: 1; }
  html { scroll-padding-top: 76px; }
}
.preview { margin: 0 0 6px; font-size: var(--text-sm); }
.preview p { margin: 2px 0; }
.preview .scroll { overflow-x: auto; }
.preview table { border-collapse: collapse; }
.preview th, .preview td { white-space: nowrap; padding: 0.15em 0.6em; text-align: right; }
.preview tbody tr { border-top: 1px solid var(--border-color-primary); font-variant-numeric: tabular-nums; }
.preview .chip { background: #1d4ed8; color: white; border-radius: 8px; padding: 0 0.5em; font-weight: 600; }
.preview .chip + .chip { margin-left: 3px; }
.preview .chip.unused { background: none; color: var(--body-text-color-subdued); font-weight: 400; padding: 0; }
.message + .message, .preview + .message { margin-top: 6px; }
[id$="-results"].stale { opacity: 0.45; }
[id$="-results"].stale::before { content: "Before your change. Press Compute."; font-weight: 600; }
[id*="-file"] a[download], [id*="-file"] .download { display: none !important; }
"""
