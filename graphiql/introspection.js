/** Introspection is answered by a file, which the browser loads again only if the schema has changed. */
export function answerIntrospection(file) {
  const send = window.fetch.bind(window);
  window.fetch = (input, options = {}) =>
    typeof options.body === 'string' && options.body.includes('query IntrospectionQuery')
      ? send(file)
      : send(input, options);
}
