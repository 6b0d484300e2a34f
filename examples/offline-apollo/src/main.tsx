import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApolloProvider } from '@apollo/client/react';
import { App } from './App.tsx';
import { createClient } from './client.ts';
import { outbox } from './outbox.ts';
import '../../shared/base.css';
import './style.css';

const client = await createClient();
await outbox.resume(client);
createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <ApolloProvider client={client}>
      <App />
    </ApolloProvider>
  </StrictMode>,
);
if (import.meta.env.PROD) void navigator.serviceWorker?.register('/sw.js');
