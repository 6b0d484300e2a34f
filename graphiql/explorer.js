/** The explorer focuses its inputs when it opens, one after the other. Without that, its title and the root of its tree are visible. */
export function showTopOfExplorer() {
  let isOpening = false;
  const acted = ({ target }) => (isOpening = Boolean(target.closest?.('[aria-label="Show GraphiQL Explorer"]')));
  addEventListener('click', acted, true);
  addEventListener('keydown', acted, true);
  addEventListener('pointerdown', acted, true);
  addEventListener('focusin', ({ target }) => {
    const plugin = target.closest?.('.graphiql-plugin');
    if (!plugin || !isOpening) return;
    setTimeout(() => (isOpening = false));
    target.blur();
    for (const each of [plugin, ...plugin.querySelectorAll('*')]) each.scrollTop = 0;
  });
}
