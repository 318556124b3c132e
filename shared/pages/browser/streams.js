// Gradio's client asks for a stream of answers if none is open, and one stream ends with the last answer. It may take
// an event for one of an open stream before it reads that the stream has ended; then nobody reads the event's answer.
// So a stream goes on here while an event has no answer, and an event waits until the client knows of the end.
(() => {
  const fetched = window.fetch.bind(window), encoder = new TextEncoder();
  const PATIENCE = 2000;  // in milliseconds
  const waiting = new Set();  // events without an answer
  const answered = new Set();  // events whose answer came before their number
  let known = Promise.resolve();  // the client knows of the last end of a stream

  const joined = async (answer) => {
    const {event_id: event} = await answer.clone().json().catch(() => ({}));
    if (event && !answered.delete(event)) waiting.add(event);
    await known;
    return answer;
  };
  async function* messages(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const {done, value} = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      yield* parts;
    }
  }
  const follow = async (controller, request, answer) => {
    if (!answer.ok) throw new Error(`the stream of answers was refused: ${answer.status}`);
    for await (const message of messages(answer.body)) {
      const {msg, event_id: event} = message.startsWith("data: ") ? JSON.parse(message.slice(6)) : {};
      if (msg === "process_completed" && !waiting.delete(event)) answered.add(event);
      if (msg === "close_stream") {
        if (waiting.size) return follow(controller, request, await fetched(request));
        known = new Promise((resolve) => {
          request.signal.addEventListener("abort", resolve, {once: true});
          setTimeout(resolve, PATIENCE);
        });
      }
      controller.enqueue(encoder.encode(`${message}\n\n`));
    }
    return controller.close();
  };

  window.fetch = async (...given) => {
    const {pathname} = new URL(given[0].url ?? given[0], location.href);
    if (pathname.endsWith("/queue/join")) return joined(await fetched(...given));
    if (!pathname.endsWith("/queue/data")) return fetched(...given);
    const request = new Request(...given), answer = await fetched(request);
    if (!answer.ok) return answer;
    const start = (controller) => { follow(controller, request, answer).catch((error) => controller.error(error)); };
    return new Response(new ReadableStream({start}), answer);
  };
})();
