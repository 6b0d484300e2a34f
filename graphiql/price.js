/** What the document would cost, shown while it is written. */
import { modelOf, requestInEditors } from './editors.js';
import { element, range } from './trace.js';

/** How long nothing is typed before the document is planned. */
const PAUSE_MS = 400;

/** `send` sends a request unchanged. Returns the element that shows the price, and a function that starts watching the editors, and one that
 * plans again. */
export function createPrice(send) {
  const price = element('span', { className: 'calls-price' });
  price.setAttribute('role', 'status');
  let timer;
  let last = 0;

  async function update() {
    const request = requestInEditors();
    const number = ++last;
    const plan = request && (await planOf(request));
    if (number !== last) return; // a later text is being planned
    price.textContent = plan ? textOf(plan) : '';
    price.title =
      plan?.fields.map(({ path, endpoint, min, max }) => `${range(min, max)} ${path}: ${endpoint}`).join('\n') ?? '';
  }

  async function planOf({ headers, body }) {
    try {
      const planned = { ...headers, accept: 'application/json', 'x-explain': 'plan' };
      const answer = await (await send(location.pathname, { method: 'POST', headers: planned, body })).json();
      const { upstream } = answer.extensions ?? {};
      return upstream?.fields && upstream;
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

function textOf({ min, max, fields }) {
  const costliest = fields.reduce((a, b) => (b.max > (a?.max ?? 0) ? b : a), undefined);
  const calls = `Costs ${range(min, max)} ${max === 1 ? 'call' : 'calls'}`;
  return costliest?.max > 1 && fields.length > 1
    ? `${calls}, most for ${costliest.path} (${range(costliest.min, costliest.max)})`
    : calls;
}
