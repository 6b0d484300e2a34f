/** The app sends everything to its own host, as behind a reverse proxy: the browser then tells the sizes of all responses. */
const graph = process.env.CATALOG_URL ?? 'http://127.0.0.1:4000';
const origin = process.env.ORIGIN_URL ?? 'http://127.0.0.1:4001';

export const proxy = {
  '/graphql': { target: graph, changeOrigin: true },
  '/rest': { target: origin, changeOrigin: true, rewrite: (path: string) => path.replace('/rest', '') },
};
