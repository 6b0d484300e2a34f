/** Makes the links to the page of errors clickable in responses: they may be relative, and the editor knows absolute addresses only. */
export function linkHelp() {
  monaco.languages.registerLinkProvider('json', {
    provideLinks: (model) => ({
      links: model.findMatches('"help": "(/docs/errors#\\w+)"', false, true, true, null, true).map(linkOf),
    }),
  });
}

function linkOf({ range, matches: [text, path] }) {
  const start = range.startColumn + text.indexOf(path);
  return {
    range: { ...range, startColumn: start, endColumn: start + path.length },
    url: location.origin + path,
    tooltip: 'What to do about it',
  };
}
