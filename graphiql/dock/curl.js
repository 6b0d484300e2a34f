/** The request of the open tab as a command for a shell. */
import { requestInEditors } from '../editors.js';
import { element } from '../element.js';

export function createCurlButton() {
  const name = 'Copy as cURL';
  const button = element('button', { type: 'button', className: 'calls-copy', textContent: name });
  button.addEventListener('click', async () => {
    const request = requestInEditors();
    button.textContent = request && (await copy(curlOf(request))) ? 'Copied' : 'Nothing to copy';
    setTimeout(() => (button.textContent = name), 1_500);
  });
  return button;
}

function curlOf({ headers, body }) {
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [`curl -s ${quoted(location.origin + location.pathname)}`, ...lines, `-d ${quoted(body)}`].join(' \\\n  ');
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

async function copy(text) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  // Pages without TLS have no clipboard, except on localhost.
  const area = element('textarea', { value: text });
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}
