import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { proxy } from '../shared/proxy.ts';

export default defineConfig({
  plugins: [react()],
  server: { proxy },
  preview: { proxy },
  build: { chunkSizeWarningLimit: 1_000 },
});
