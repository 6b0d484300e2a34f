/** The operations that the page sends: others of the page are told of each, and of its response. */
import { openTab } from './editors.js';

/**
 * With `isTraced` every operation is sent with `x-explain: trace`, unless it has an x-explain of its own. The trace is taken out of the
 * response, so that the response is what any client gets.
 */
export function watchOperations(isTraced) {
  const send = window.fetch.bind(window);
  const starts = [];
  const answers = [];
  window.fetch = async (input, options = {}) => {
    if (!isOperation(input, options)) return send(input, options);
    const tab = openTab();
    const request = requestOf(options);
    const headers = new Headers(options.headers);
    const isOurs = isTraced && !headers.has('x-explain');
    if (isOurs) headers.set('x-explain', 'trace');
    for (const onStart of starts) onStart(tab, request);
    const answered = (answer) => answers.forEach((onAnswer) => onAnswer(tab, answer, request));
    const response = await send(input, { ...options, headers });
    const type = response.headers.get('content-type') ?? '';
    if (!/json/.test(type)) {
      // Incremental delivery: parts are passed on as they arrive, and the last one has the calls.
      if (response.body) void readParts(response.clone(), answered);
      return response;
    }
    const answer = await response
      .clone()
      .json()
      .catch(() => undefined);
    answered(answer);
    const shown = shownOf(answer, isOurs);
    if (!shown) return response;
    const { status, statusText } = response;
    return new Response(JSON.stringify(shown), { status, statusText, headers: response.headers });
  };
  return {
    /** Sends a request unchanged, and tells nobody. */
    send,
    onStart: (listener) => void starts.push(listener),
    onAnswer: (listener) => void answers.push(listener),
  };
}

/** The response without what the dock shows of it; undefined if it is shown as it is. A plan is no failure, and is not shown as one. */
function shownOf(answer, isOurs) {
  if (!answer?.extensions?.upstream) return undefined;
  const { upstream, ...extensions } = answer.extensions;
  if (answer.errors?.[0]?.extensions?.code === 'PLANNED_NOT_RUN')
    return {
      data: {},
      extensions: {
        note: 'PLANNED_NOT_RUN: with x-explain: plan an operation is planned and not run. This is its cost.',
        upstream,
        ...extensions,
      },
    };
  return isOurs ? { ...answer, extensions: Object.keys(extensions).length > 0 ? extensions : undefined } : undefined;
}

/** Whether the request is an operation that the user wrote. */
function isOperation(input, { method, body }) {
  const url = new URL(input instanceof Request ? input.url : input, location.href);
  return (
    url.origin === location.origin &&
    url.pathname === location.pathname &&
    method === 'POST' &&
    !(typeof body === 'string' && body.includes('IntrospectionQuery'))
  );
}

/** Its document and variables; undefined for an upload. */
function requestOf({ body }) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

async function readParts(response, onPart) {
  const text = await response.text().catch(() => '');
  for (const line of text.split(/\r?\n/)) {
    const json = line.replace(/^data: */, '');
    if (!json.startsWith('{')) continue;
    try {
      onPart(JSON.parse(json));
    } catch {
      // not a part
    }
  }
}
