/** Draws three pages, each from the response to one request, and beside each what it cost. */
(() => {
  const { token, hasGraphiql, queries, rest } = JSON.parse(document.querySelector('#settings').textContent);

  const pages = [
    ['book', 'A book page', drawBook],
    ['film', 'A film page', drawFilm],
    ['dashboard', 'A reader’s dashboard', drawDashboard],
  ];

  for (const [name, title, draw] of pages) {
    const page = element('div', { className: 'page', ariaLive: 'polite' });
    const price = element('div', { className: 'price' });
    const section = element('section', { id: name, ariaLabel: title }, page, price);
    document.querySelector('#pages').append(section);
    const load = async () => {
      try {
        const { data, errors, extensions } = await request(queries[name]);
        if (!data) throw new Error(errors?.[0]?.message ?? 'There is no response.');
        page.replaceChildren(element('h2', {}, title), ...draw(data));
        const bytes = new TextEncoder().encode(JSON.stringify(errors ? { data, errors } : { data })).length;
        price.replaceChildren(...drawPrice(name, extensions.upstream.calls, bytes, load));
      } catch (error) {
        page.replaceChildren(element('h2', {}, title), element('p', {}, `It could not be loaded: ${error.message}`));
      }
    };
    void load();
  }

  async function request(query) {
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'x-explain': 'trace' },
      body: JSON.stringify({ query }),
    });
    return response.json();
  }

  function drawBook({ book }) {
    const { series, viewerCollection: mine, annotations } = book;
    return [
      top(
        book.cover.large,
        book.title,
        line(book.authors.join(', ')),
        weak([book.publisher, book.publishedOn]),
        stars(book.rating),
        mine && line(`On my shelf: ${mine.status.toLowerCase()} · ${mine.tags.join(', ')}`),
        mine?.comment && weak([`“${mine.comment}”`]),
      ),
      heading(series && `Series: ${series.title}`),
      row((series?.books.nodes ?? []).map((each) => picture(each.cover.medium, each.title))),
      heading('Annotations'),
      ...annotations.nodes.map(({ author, page, abstract }) => said(author, `p. ${page} · ${abstract}`)),
    ];
  }

  function drawFilm({ subject: film }) {
    return [
      top(
        film.images.large,
        film.title,
        line(`${film.originalTitle} (${film.year})`),
        weak([film.directors.map(({ name }) => name).join(', '), film.genres.join(' / ')]),
        stars(film.rating),
      ),
      heading('Cast'),
      row(film.casts.map(({ name, avatars }) => picture(avatars.medium, name))),
      heading(`More by ${film.directors[0].name}`),
      row(film.directors[0].works.nodes.map(({ subject }) => picture(subject.images.medium, subject.title))),
      heading('Photos'),
      row(film.photos.nodes.map(({ thumbUrl }) => picture(thumbUrl, '', 'wide'))),
      heading('Comments'),
      ...film.comments.nodes.map(({ author, content }) => said(author, content)),
    ];
  }

  function drawDashboard({ user, top250, city }) {
    const event = ({ title, place, imageUrl }) => picture(imageUrl, [title, place].filter(Boolean).join(' · '), 'wide');
    return [
      heading('Reading now'),
      row(user.bookCollections.nodes.map(({ book }) => picture(book.cover.medium, book.title))),
      heading('Notes'),
      ...user.notes.nodes.map(({ title, commentsCount }) => line(`${title} · ${commentsCount} comments`)),
      heading('Events: joined, and new in the city'),
      row([...user.events.nodes, ...city.events.nodes].map(event)),
      heading('Top films'),
      row(top250.nodes.map(({ title, images, rating }) => picture(images.medium, `${title} ${rating.average}`))),
    ];
  }

  function drawPrice(name, calls, bytes, again) {
    const made = calls.filter((call) => !call.cached && !call.coalesced);
    const sent = made.reduce((sum, call) => sum + (call.bytes ?? 0), 0);
    const { requests, bytes: raw } = rest[name];
    const cached = calls.length - made.length;
    const bar = (value, className) => element('meter', { max: raw, value, className, ariaHidden: 'true' });
    const pair = (term, value, ...more) => [element('dt', {}, term), element('dd', {}, value), ...more];
    const list = element('ol', {});
    for (const call of calls)
      list.append(
        element(
          'li',
          {},
          `${call.method} ${decodeURI(call.path)} `,
          element('span', { className: 'weak' }, effect(call)),
        ),
      );
    const button = element('button', { type: 'button' }, 'Send again');
    button.addEventListener('click', () => void again());
    const link = element('a', { href: `/graphql?query=${encodeURIComponent(queries[name])}` }, 'Open in GraphiQL');
    return [
      element('h2', {}, 'What it cost'),
      element(
        'dl',
        {},
        ...pair('Requests of this page', '1'),
        ...pair('Calls of the service', `${made.length}${cached ? `, ${cached} from the cache` : ''}`),
        ...pair(`REST alone: ${requests} requests, whole records`, size(raw), bar(raw, 'rest')),
        ...pair('Service to graph, by fields', size(sent), bar(sent, '')),
        ...pair('Graph to this page', size(bytes), bar(bytes, '')),
      ),
      element('div', { className: 'buttons' }, button, ...(hasGraphiql ? [link] : [])),
      element('h3', {}, 'The request'),
      element('pre', { tabIndex: 0, ariaLabel: 'The request' }, queries[name]),
      element('details', {}, element('summary', {}, 'The calls'), list),
    ];
  }

  const effect = ({ cached, coalesced, bytes, ms }) =>
    cached ? 'cached' : coalesced ? 'shared' : `${size(bytes ?? 0)} · ${Math.round(ms)} ms`;

  function size(bytes) {
    return bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`;
  }

  function top(src, title, ...lines) {
    const text = element('div', {}, element('h3', {}, title), ...lines.filter(Boolean));
    return element('div', { className: 'top' }, element('img', { src, alt: title }), text);
  }

  function heading(text) {
    return text ? element('h3', {}, text) : '';
  }

  function line(text) {
    return element('p', {}, text);
  }

  function weak(parts) {
    return element('p', { className: 'weak' }, parts.filter(Boolean).join(' · '));
  }

  function stars({ average, ratersCount }) {
    const count = ratersCount.toLocaleString('en');
    return element('p', {}, element('span', { className: 'stars' }, `★ ${average}`), ` of ${count} ratings`);
  }

  function row(pictures) {
    return element('div', { className: 'row' }, ...pictures);
  }

  function picture(src, text, className = '') {
    return element('figure', { className }, element('img', { src: src ?? '', alt: text, loading: 'lazy' }), text);
  }

  function said({ name, avatarUrl }, text) {
    const words = element('div', {}, element('b', {}, name), ` ${text}`);
    return element('div', { className: 'said' }, element('img', { src: avatarUrl ?? '', alt: '' }), words);
  }

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }
})();
