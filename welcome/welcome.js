/** Draws three pages, each from the response to one request, and beside each what it cost. */
(() => {
  const { people, hasGraphiql, queries, rest } = JSON.parse(document.querySelector('#settings').textContent);

  /** Shared with GraphiQL. */
  const PERSON = 'catalog-graphql:person';
  let person = people.find(({ name }) => name === stored()) ?? people[0];

  const pages = [
    ['book', 'A book page', drawBook],
    ['film', 'A film page', drawFilm],
    ['dashboard', 'The dashboard of alice', drawDashboard],
  ];

  const loads = pages.map(([name, title, draw]) => addSection(name, title, draw));
  document.querySelector('#pages > p').after(personSwitch());
  const figures = rest.book;
  say(`${figures.requests} requests and ${size(figures.bytes)} become 1 request`);
  loadAll();

  function loadAll() {
    for (const load of loads) void load();
  }

  function say(result) {
    document.querySelector('#result').textContent = result;
  }

  /** Returns a function that loads the page again, and updates what is there. */
  function addSection(name, title, draw) {
    const status = element('p', { className: 'weak', role: 'status' }, 'Loading …');
    const content = element('div', {});
    const problems = element('ul', { className: 'problems' });
    const page = element('div', { className: 'page' }, element('h2', {}, title), status, content, problems);
    const { price, show } = createPrice(name, load);
    const section = element('section', { id: name, ariaLabel: title }, page);
    document.querySelector('#pages').append(section);
    let shown;
    let last = 0;

    async function load() {
      const number = ++last;
      const { name: who } = person;
      try {
        const { data, errors = [], extensions } = await request(queries[name]);
        if (number !== last) return; // another person has been chosen meanwhile
        if (!data) throw new Error(errors[0]?.message ?? 'There is no response.');
        const bytes = new TextEncoder().encode(JSON.stringify(errors.length ? { data, errors } : { data })).length;
        const calls = extensions.upstream.calls;
        const text = JSON.stringify(data);
        if (text !== shown) content.replaceChildren(...draw(data));
        shown = text;
        problems.replaceChildren(...errors.map(problem));
        status.textContent = `As ${who}: ${errors.length ? `${counted(errors.length, 'field')} refused, the rest is here` : 'everything is here'}`;
        show(calls, bytes, errors.length === 0);
        if (name === 'book')
          say(`${figures.requests} requests and ${size(figures.bytes)} become 1 request and ${size(bytes)}`);
        if (!price.isConnected) section.append(price);
      } catch (error) {
        if (number !== last) return;
        shown = undefined;
        content.replaceChildren();
        problems.replaceChildren();
        status.textContent = `It could not be loaded: ${error.message}`;
      }
    }
    return load;
  }

  function personSwitch() {
    const about = element('p', { className: 'weak', role: 'status' }, person.about);
    const choices = people.map((each) => {
      const input = element('input', { type: 'radio', name: 'person', value: each.name, checked: each === person });
      input.addEventListener('change', () => {
        person = each;
        about.textContent = each.about;
        store(each.name);
        loadAll();
      });
      return element('label', {}, input, ` ${each.name}`);
    });
    return element(
      'form',
      { className: 'people' },
      element('fieldset', {}, element('legend', {}, 'Who sends the requests'), ...choices),
      about,
    );
  }

  async function request(query) {
    const { authorization } = person;
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-explain': 'trace', ...(authorization && { authorization }) },
      body: JSON.stringify({ query }),
    });
    return response.json();
  }

  /** A field that failed: the rest of the page is complete. */
  function problem({ path = [], message, extensions: { code, help } = {} }) {
    const link = element('a', { href: help ?? '/docs/errors' }, code ?? 'Error');
    return element('li', {}, element('code', {}, path.join('.')), ' ', link, ` ${message}`);
  }

  function drawBook({ book }) {
    if (!book) return [];
    const { series, viewerCollection: mine, annotations } = book;
    return [
      top(
        book.cover?.large,
        book.title,
        line(book.originalTitle),
        line(zh((book.authors ?? []).join(', '))),
        weak([zh(book.publisher), book.publishedOn]),
        stars(book.rating),
        mine && line(`On this shelf: ${mine.status.toLowerCase()} · `, zh((mine.tagNames ?? []).join(', '))),
        mine?.comment && weak([zh(`“${mine.comment}”`)]),
      ),
      heading(series && ['Series: ', zh(series.title)]),
      row((series?.books?.nodes ?? []).map((each) => picture(each.cover?.medium, [each.title]))),
      heading(annotations && ['Annotations']),
      ...(annotations?.nodes ?? []).map(({ author, page, abstract }) =>
        said(author, page && `p. ${page} · `, abstract),
      ),
    ];
  }

  function drawFilm({ subject: film }) {
    if (!film) return [];
    const [director] = film.directors ?? [];
    const works = director?.works?.nodes ?? [];
    const { casts, photos, comments } = film;
    return [
      top(
        film.poster?.large,
        film.title,
        line(`${film.originalTitle} (${film.year})`),
        weak([zh((film.directors ?? []).map(({ name }) => name).join(', ')), zh((film.genres ?? []).join(' / '))]),
        stars(film.rating),
      ),
      heading(casts?.length && ['Cast']),
      row((casts ?? []).map(({ name, portrait }) => picture(portrait?.medium, [name]))),
      heading(works.length && ['More by ', zh(director.name)]),
      row(
        works.map(({ subject }) => subject && picture(subject.poster?.medium, [subject.title, subject.originalTitle])),
      ),
      heading(photos?.nodes.length && ['Photos']),
      row((photos?.nodes ?? []).map(({ thumbUrl }) => picture(thumbUrl, [''], 'wide'))),
      heading(comments?.nodes.length && ['Comments']),
      ...(comments?.nodes ?? []).map(({ author, content }) => said(author, '', content)),
    ];
  }

  function drawDashboard({ user, top250, city }) {
    const event = ({ title, place, imageUrl }) => picture(imageUrl, [title, '', place], 'wide');
    const shelf = user?.bookCollections?.nodes ?? [];
    const notes = user?.notes?.nodes ?? [];
    const events = [...(user?.events?.nodes ?? []), ...(city?.events?.nodes ?? [])];
    const films = top250?.nodes ?? [];
    const filmOfChart = ({ title, originalTitle, poster, rating }) =>
      picture(poster?.medium, [`${title} ${rating?.average ?? ''}`, originalTitle]);
    return [
      heading(shelf.length && ['Reading now']),
      row(shelf.map(({ book }) => book && picture(book.cover?.medium, [book.title, book.originalTitle]))),
      heading(notes.length && ['Notes']),
      ...notes.map(({ title, commentsCount }) => line(zh(title), ` · ${counted(commentsCount ?? 0, 'comment')}`)),
      heading(events.length && ['Events: joined, and new in the city']),
      row(events.map(event)),
      heading(films.length && ['Top films']),
      row(films.map(filmOfChart)),
    ];
  }

  /** The column of figures. What it contains is made once; `show` changes texts only, so that nothing closes or loses the focus. */
  function createPrice(name, again) {
    const { requests, bytes: raw } = rest[name];
    const values = {};
    const pair = (key, term, bar) => {
      const value = element('dd', {});
      const meter = bar && element('meter', { max: raw, className: bar === 'rest' ? bar : '', ariaHidden: 'true' });
      values[key] = { value, meter };
      return [element('dt', {}, term), value, meter ?? ''];
    };
    const list = element('ol', {});
    const button = element('button', { type: 'button' }, 'Send again');
    button.addEventListener('click', () => void again());
    const link = element('a', { href: `/graphql?query=${encodeURIComponent(queries[name])}` }, 'Open in GraphiQL');
    const note = element('p', { className: 'weak' });
    const price = element(
      'details',
      { className: 'price', open: !matchMedia('(max-width: 46rem)').matches },
      element('summary', {}, element('h2', {}, 'What it cost')),
      element(
        'dl',
        {},
        ...pair('page', 'Requests of this page'),
        ...pair('calls', 'Calls to the service'),
        ...pair('raw', `Without the graph: ${requests} requests for whole records`, 'rest'),
        ...pair('sent', 'From the service to the graph', 'graph'),
        ...pair('bytes', 'From the graph to this page', 'graph'),
      ),
      note,
      element('div', { className: 'buttons' }, button, ...(hasGraphiql ? [link] : [])),
      element(
        'details',
        { className: 'request' },
        element('summary', {}, 'The request'),
        element('pre', { tabIndex: 0, role: 'region', ariaLabel: `The request of ${name}` }, queries[name]),
      ),
      element('details', { className: 'made' }, element('summary', {}, 'The calls'), list),
    );
    const set = (key, text, figure) => {
      values[key].value.textContent = text;
      if (values[key].meter) values[key].meter.value = figure;
    };
    const show = (calls, bytes, isComplete) => {
      const made = calls.filter(({ how }) => how === 'sent');
      const cached = calls.filter(({ how }) => how === 'cached' || how === 'stale').length;
      const sent = made.reduce((sum, call) => sum + (call.bytes ?? 0), 0);
      set('page', '1');
      set('calls', `${made.length}${cached ? `, ${cached} from the cache` : ''}`);
      set('raw', size(raw), raw);
      set('sent', size(sent), sent);
      set('bytes', size(bytes), bytes);
      const feeds = made.some(({ path }) => /^\/(?:event|people)/.test(path));
      note.textContent = [
        ...(feeds ? ['Atom feeds are sent whole: only JSON records can be cut to the needed fields.'] : []),
        ...(isComplete ? [] : ['Some fields are refused, so compare the figures of alice.']),
      ].join(' ');
      list.replaceChildren(
        ...calls.map((call) =>
          element(
            'li',
            {},
            `${call.method} ${decodeURI(call.path)} `,
            element('span', { className: 'weak' }, effect(call)),
          ),
        ),
      );
    };
    return { price, show };
  }

  const effect = ({ how, bytes, ms }) =>
    how === 'joined' ? 'shared' : how !== 'sent' ? how : `${size(bytes ?? 0)} · ${Math.round(ms)} ms`;

  function size(bytes) {
    return bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`;
  }

  function counted(count, noun) {
    return `${count} ${noun}${count === 1 ? '' : 's'}`;
  }

  /** A text of the data, which is Chinese: screen readers choose the voice by it. */
  function zh(text) {
    return text ? element('span', { lang: 'zh' }, text) : '';
  }

  function top(src, title, ...lines) {
    const text = element('div', {}, element('h3', {}, zh(title)), ...lines.filter(Boolean));
    return element('div', { className: 'top' }, image(src), text);
  }

  function heading(parts) {
    return parts ? element('h3', {}, ...parts) : '';
  }

  function line(...parts) {
    return parts.some(Boolean) ? element('p', {}, ...parts) : '';
  }

  function weak(parts) {
    const given = parts.filter(Boolean);
    return element('p', { className: 'weak' }, ...given.flatMap((part, at) => (at > 0 ? [' · ', part] : [part])));
  }

  function stars(rating) {
    if (!rating) return '';
    const { average, ratersCount } = rating;
    const count = ratersCount === null ? '' : ` from ${ratersCount.toLocaleString('en')} ratings`;
    return element('p', {}, element('span', { className: 'stars' }, `★ ${average}`), ` of 10${count}`);
  }

  function row(pictures) {
    return pictures.length ? element('div', { className: 'row' }, ...pictures.filter(Boolean)) : '';
  }

  function picture(src, [title, original, place], className = '') {
    const texts = [zh(title), ...(original && original !== title ? [element('br', {}), original] : [])];
    if (place) texts.push(element('br', {}), zh(place));
    return element('figure', { className }, image(src), element('figcaption', {}, ...texts));
  }

  /** The caption beside it has the same text, so screen readers need no other. */
  function image(src) {
    return element('img', { src: src ?? 'data:,', alt: '', loading: 'lazy' });
  }

  function said(author, place, text) {
    const words = element('div', {}, element('b', {}, zh(author?.name)), ' ', place || '', zh(text));
    return element('div', { className: 'said' }, image(author?.avatarUrl), words);
  }

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function stored() {
    try {
      return localStorage.getItem(PERSON);
    } catch {
      return null; // a browser that keeps nothing
    }
  }

  function store(name) {
    try {
      localStorage.setItem(PERSON, name);
    } catch {
      // a browser that keeps nothing
    }
  }
})();
