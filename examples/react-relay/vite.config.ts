import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { proxy } from '../shared/proxy.ts';

/** Replaces graphql tags by imports of what the Relay compiler has written for them. */
const relay: Plugin = {
  name: 'relay',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('.tsx')) return undefined;
    const imports: string[] = [];
    const replaced = code.replaceAll(/graphql`[^`]*?(?:query|mutation|fragment)\s+(\w+)[^`]*`/g, (_, name: string) => {
      imports.push(`import ${name}Artifact from './__generated__/${name}.graphql.ts';`);
      return `${name}Artifact`;
    });
    return imports.length > 0 ? { code: imports.join('') + replaced, map: null } : undefined;
  },
};

export default defineConfig({
  plugins: [relay, react()],
  server: { proxy },
  preview: { proxy },
  build: { chunkSizeWarningLimit: 1_000 },
});
