"""The frame of a report, in one file: its style, in light and dark."""

FRAME = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --text: #222; --back: #fff; --soft: #f4f4f4; --line: #ccc; --quiet: #666;
  --first: #0072b2; --second: #d55e00; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --text: #e6e6e6; --back: #161616; --soft: #222; --line: #444; --quiet: #a8a8a8;
    --first: #56b4e9; --second: #e69f00; }}
}}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 1320px; margin: 2rem auto; padding: 0 1rem;
  color: var(--text); background: var(--back); overflow-wrap: anywhere; }}
h2 {{ margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }}
.quiet {{ color: var(--quiet); }}
.table {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.85rem; }}
th, td {{ padding: 0.25rem 0.4rem; text-align: right; white-space: nowrap; overflow-wrap: normal; }}
th {{ font-weight: 600; vertical-align: bottom; }}
thead th {{ white-space: normal; min-width: 3.8em; border-bottom: 2px solid var(--line); }}
tr > :first-child {{ text-align: left; position: sticky; left: 0; background: var(--back); }}
tbody tr:nth-child(odd) > * {{ background: var(--soft); }}
table.mean tbody tr:last-child > * {{ border-top: 2px solid var(--line); font-weight: 600; }}
.charts {{ display: grid; gap: 1rem; margin-top: 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 270px), 1fr)); }}
svg {{ width: 100%; max-width: 420px; height: auto; font-size: 12px; fill: var(--text); }}
svg .title {{ font-size: 13px; font-weight: 600; }}
.grid {{ stroke: var(--line); stroke-width: 1; }}
polyline {{ fill: none; stroke-width: 2; }}
polyline.first {{ stroke: var(--first); }}
polyline.second {{ stroke: var(--second); stroke-dasharray: 6 3; }}
rect.first {{ fill: var(--first); fill-opacity: 0.6; }}
rect.second {{ fill: var(--second); fill-opacity: 0.6; }}
circle {{ fill: var(--back); stroke: var(--text); stroke-width: 1.5; }}
line.threshold {{ stroke: var(--text); stroke-width: 1.5; stroke-dasharray: 4 3; }}
.key {{ display: inline-block; margin-right: 1.5rem; }}
.key i {{ display: inline-block; width: 1.4em; height: 0.8em; margin-right: 0.35em; }}
.figures {{ display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 720px), 1fr)); }}
figure {{ margin: 0; }}
.gallery {{ display: grid; gap: 1rem 0.75rem; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); }}
.gallery img {{ aspect-ratio: 1; object-fit: contain; background: var(--soft); }}
.gallery figcaption {{ font-size: 0.85rem; line-height: 1.35; }}
.panels {{ display: grid; gap: 0.4rem; grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); }}
@media (max-width: 600px) {{ .panels {{ grid-template-columns: 1fr 1fr; }} }}
.panels div {{ font-size: 0.8rem; color: var(--quiet); }}
img {{ display: block; width: 100%; height: auto; border: 1px solid var(--line); box-sizing: border-box; }}
figcaption {{ margin-top: 0.3rem; }}
th small {{ display: block; font-weight: 400; }}
caption {{ text-align: left; color: var(--quiet); padding-top: 0.6rem; }}
pre {{ overflow-x: auto; background: var(--soft); padding: 0.75rem; font-size: 0.85rem; }}
dl {{ display: flex; flex-wrap: wrap; gap: 0.4rem 1.6rem; }}
dt {{ color: var(--quiet); }}
dd {{ margin: 0; }}
output {{ font-weight: 600; margin-left: 0.5em; }}
</style>
<h1>{title}</h1>
{body}
</html>
"""
