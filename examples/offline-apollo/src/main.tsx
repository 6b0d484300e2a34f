import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApolloProvider } from '@apollo/client/react';
import { App } from './App.tsx';
import { createClient } from './client.ts';
import { device } from './device.ts';
import '../../shared/base.css';
import './style.css';

const client = await createClient();
await device.start(client);
createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <ApolloProvider client={client}>
      <App />
    </ApolloProvider>
  </StrictMode>,
);
if (import.meta.env.PROD) void navigator.serviceWorker?.register('/sw.js');
