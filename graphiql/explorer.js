/** How long after its opening the explorer may move the focus by itself. */
const OPENING_MS = 2_000;

/** The explorer focuses its last input when it opens. Without that, its title and the root of its tree are visible. */
export function showTopOfExplorer() {
  let openedAt = -Infinity;
  const acted = ({ target }) =>
    (openedAt = target.closest?.('[aria-label="Show GraphiQL Explorer"]') ? performance.now() : -Infinity);
  addEventListener('click', acted, true);
  addEventListener('keydown', acted, true);
  addEventListener('pointerdown', acted, true);
  addEventListener('focusin', ({ target }) => {
    const plugin = target.closest?.('.graphiql-plugin');
    if (!plugin || performance.now() - openedAt > OPENING_MS) return;
    target.blur();
    for (const each of [plugin, ...plugin.querySelectorAll('*')]) each.scrollTop = 0;
  });
}
