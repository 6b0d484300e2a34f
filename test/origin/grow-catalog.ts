/** Adds generated books to the data of an origin, so that a search meets its maximum of results. */
import { createBookIndex } from '../../src/origin/store/book-index.ts';
import { openDatabase } from '../../src/origin/store/database/database.ts';
import type { Database } from '../../src/origin/store/database/database.ts';
import { fillOnce } from '../../src/origin/store/seed/seed.ts';
import { createChance } from '../../src/origin/store/seed/chance.ts';

const SERIES_SIZE = 50;
/** The number of books of the demo data whose first sentences are the summaries of others. */
const SUMMARIES = 100;
/** The difference between the id and the `no` of a book; above all ids of the demo data. */
const FIRST_ID = 100_000_000;

// prettier-ignore
const tags = ['小说', '散文', '历史', '诗歌', '科幻', '推理', '传记', '哲学', '旅行', '美食', '建筑', '心理学', '经济学', '数学', '物理', '绘本', '艺术', '音乐', '电影', '社会学', '人类学', '植物', '动物', '天文', '童话', '武侠', '随笔', '书信', '日记', '戏剧'];
// prettier-ignore
const firsts = ['漫长的', '第七个', '看不见的', '南方', '午夜', '无名', '遥远的', '最后的', '流动的', '寂静', '玻璃', '纸上的', '夏日', '海边的', '失落的', '雪中'];
// prettier-ignore
const seconds = ['图书馆', '车站', '花园', '来信', '城市', '岛屿', '钟表匠', '邮差', '地图', '季节', '河流', '房间', '灯塔', '旅人', '档案', '集市'];
const surnames = ['林', '周', '沈', '许', '陆', '叶', '顾', '程', '苏', '何', '宋', '唐'];
const names = ['知远', '晚舟', '青禾', '听雨', '小满', '拾光', '南枝', '北望', '疏影', '若水', '在野', '长风'];
const publishers = ['远山出版社', '河岸文艺出版社', '纸船书局', '第三页出版社', '白塔大学出版社', '灯下文库'];

/** Adds this number of generated books to the demo data in a new `dataDir`. */
export function growCatalog(dataDir: string, demoDir: string, books: number): void {
  const db = openDatabase(dataDir);
  try {
    fillOnce(db, demoDir);
    db.raw.exec('PRAGMA synchronous = OFF'); // lost books can be generated again
    const add = bookWriter(db);
    const { last } = db.raw.prepare('SELECT max(no) AS last FROM books').get() as { last: number };
    db.transaction(() => {
      for (let added = 1; added <= books; added++) add(last + added);
    });
    db.raw.exec('ANALYZE');
  } finally {
    db.close();
  }
}

/** Uses prepared statements: a typed query is compiled at every use, and there may be a million books. */
function bookWriter(db: Database) {
  const { raw } = db;
  const index = createBookIndex(db);
  const addSeries = raw.prepare('INSERT OR IGNORE INTO series (id, title) VALUES (?, ?)');
  const addBook = raw.prepare(
    `INSERT INTO books (no, id, isbn10, isbn13, title, origin_title, alt_title, subtitle, author, translator, publisher, pubdate, raters,
      rating_sum, binding, price, series_id, pages, author_intro, summary, catalog, ebook_url, ebook_price)
     VALUES (?, ?, ?, ?, ?, '', '', '', ?, '[]', ?, ?, ?, ?, '平装', ?, ?, ?, '', ?, '', NULL, NULL)`,
  );
  const summaries = db
    .rows('books', {}, SUMMARIES)
    .map(({ summary }) => /^(?:.+?[。！]){3}/u.exec(summary)?.[0] ?? summary);
  const addTag = raw.prepare('INSERT INTO book_tags (book_id, name, count) VALUES (?, ?, ?)');

  return (no: number) => {
    const chance = createChance(`book ${no}`);
    const pick = <T>(list: readonly T[]): T => list[chance.int(list.length)]!;
    const id = String(FIRST_ID + no);
    const title = `${pick(firsts)}${pick(seconds)} ${no}`;
    const author = pick(surnames) + pick(names);
    const publisher = pick(publishers);
    const { isbn10, isbn13 } = isbnOf(no);
    const series = chance.int(3) === 0 ? String(FIRST_ID + Math.floor(no / SERIES_SIZE)) : null;
    const raters = chance.int(4) === 0 ? chance.int(10) : chance.int(50_000);
    if (series) addSeries.all(series, `${pick(seconds)}丛书`);
    addBook.all(
      no,
      id,
      isbn10,
      isbn13,
      title,
      JSON.stringify([author]),
      publisher,
      `${chance.between(1980, 2019)}-${chance.between(1, 12)}`,
      raters,
      raters * (chance.between(45, 96) / 10),
      `${chance.between(18, 98)}.00元`,
      series,
      String(chance.between(80, 900)),
      pick(summaries),
    );
    for (const name of new Set([1, 2, 3].map(() => pick(tags)))) addTag.all(id, name, chance.between(1, 4_000));
    index(id);
  };
}

/** With valid check digits. */
function isbnOf(no: number): { isbn10: string; isbn13: string } {
  const nine = `7${String(no).padStart(8, '0').slice(-8)}`;
  const digits = [...nine].map(Number);
  const ten = (11 - (digits.reduce((sum, digit, n) => sum + digit * (10 - n), 0) % 11)) % 11;
  const twelve = [9, 7, 8, ...digits];
  const last = (10 - (twelve.reduce((sum, digit, n) => sum + digit * (n % 2 === 0 ? 1 : 3), 0) % 10)) % 10;
  return { isbn10: nine + (ten === 10 ? 'X' : ten), isbn13: `978${nine}${last}` };
}
