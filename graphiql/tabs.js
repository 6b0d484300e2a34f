/** GraphiQL says that the item of a list is a tab, although it has buttons, which screen readers would not find: it is an item again. */
import { watchTabs } from './editors.js';

export function repairTabs() {
  const repair = () => {
    for (const list of document.querySelectorAll('.graphiql-tabs')) list.removeAttribute('role');
    for (const item of document.querySelectorAll('.graphiql-tab[aria-selected]')) {
      item.removeAttribute('role');
      item.removeAttribute('aria-selected');
    }
    for (const button of document.querySelectorAll('.graphiql-tab-button'))
      button.ariaCurrent = String(button.parentElement.classList.contains('graphiql-tab-active'));
  };
  repair();
  watchTabs(repair);
}
