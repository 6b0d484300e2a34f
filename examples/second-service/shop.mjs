// A shop with an API of its own: its stock by ISBN, in JSON.
import { createServer } from 'node:http';

const stock = {
  9787544253994: { copies: 3, price: '39.50' },
  9787530677568: { copies: 0, price: '18.00' },
};

/** Opens the shop at a free port and returns its address, and what closes it. */
export async function openShop() {
  const server = createServer(({ url }, response) => {
    const isbn = url.split('/').at(-1);
    const found = stock[isbn];
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ? { isbn, ...found } : { msg: 'not sold here' }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
