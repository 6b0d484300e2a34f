/** What the document would cost, shown while it is written. */
import { modelOf, requestInEditors } from './editors.js';
import { element, range } from './trace.js';

/** How long nothing is typed before the document is planned. */
const PAUSE_MS = 400;

/** `send` sends a request unchanged. Returns the element that shows the price and what it is made of, a function that starts watching the editors, and one that
 * plans again. */
export function createPrice(send) {
  const text = element('span', { className: 'calls-price' });
  text.setAttribute('role', 'status');
  const summary = element('summary', {});
  summary.append(text);
  const breakdown = element('ul', { className: 'calls-breakdown' });
  // Opens by a click, a touch and the keyboard.
  const price = element('details', { className: 'calls-cost', hidden: true });
  price.append(summary, breakdown);
  let timer;
  let last = 0;

  async function update() {
    const request = requestInEditors();
    const number = ++last;
    const plan = request && (await planOf(request));
    if (number !== last) return; // a later text is being planned
    price.hidden = !plan;
    text.textContent = plan ? textOf(plan) : '';
    price.classList.toggle('calls-over', plan?.limit !== undefined);
    breakdown.replaceChildren(...(plan ? linesOf(plan) : []).map((line) => element('li', line)));
  }

  async function planOf({ headers, body }) {
    try {
      const planned = { ...headers, accept: 'application/json', 'x-explain': 'plan' };
      const answer = await (await send(location.pathname, { method: 'POST', headers: planned, body })).json();
      const { upstream, limit, hints = [] } = answer.extensions ?? {};
      return upstream?.fields && { ...upstream, limit, hints };
    } catch {
      return undefined; // the facade is unreachable
    }
  }

  function watch() {
    const later = () => {
      clearTimeout(timer);
      timer = setTimeout(update, PAUSE_MS);
    };
    const isWatched = ({ uri }) => /(?:operation\.graphql|variables\.json|request-headers\.json)$/.test(uri.path);
    monaco.editor.onDidCreateModel((model) => {
      if (!isWatched(model)) return;
      model.onDidChangeContent(later);
      later();
    });
    if (modelOf('operation.graphql')) later();
  }

  return { price, watch, update };
}

function textOf({ min, likely, max, fields, limit }) {
  const costliest = fields.reduce((a, b) => (b.max > (a?.max ?? 0) ? b : a), undefined);
  const calls =
    min === max
      ? `Costs ${max} ${max === 1 ? 'call' : 'calls'}`
      : `Costs about ${likely} ${likely === 1 ? 'call' : 'calls'}, ${range(min, max)}`;
  const over = limit === undefined ? '' : `, over the limit of ${limit}`;
  return costliest?.max > 1 && fields.length > 1
    ? `${calls}${over}, most for ${costliest.path} (${range(costliest.min, costliest.max)})`
    : `${calls}${over}`;
}

/** What would make it cheaper, and the calls of each field. */
function linesOf({ fields, hints }) {
  const cheaper = hints.map(({ path, first, without, calls }) => ({
    className: 'calls-hint',
    textContent:
      first === undefined
        ? `Cheaper: without ${without.join(', ')} of ${path || 'the query'}, at most ${calls} calls`
        : `Cheaper: with first: ${first} at ${path}, at most ${calls} calls`,
  }));
  const each = fields.map(({ path, endpoint, min, max }) => ({
    textContent: `${range(min, max)} ${path}: ${endpoint}`,
  }));
  return [...cheaper, ...each];
}
