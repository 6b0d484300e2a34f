import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  type SelectQueryBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Tables } from './schema.ts';
import {
  type SqliteDatabase,
  SqliteMissingError,
  type SqliteStatement,
  inTransaction,
  openSqlite,
  prepareWrite,
} from './sqlite.ts';
import { upgrade } from './upgrade.ts';

/** A query built by Kysely, which only compiles it. */
interface Typed<Row> {
  compile(): CompiledQuery<Row>;
}

/** A part of a list. */
export interface Slice {
  start: number;
  count: number;
}
export interface StorePage<Row> {
  total: number;
  items: Row[];
}

export interface Database {
  /** Builds typed queries. Run them with `all`, `first` or `run`. */
  query: Kysely<Tables>;
  all<Row>(query: Typed<Row>): Row[];
  first<Row>(query: Typed<Row>): Row | undefined;
  /** The rows in this part of the list, and the number of all. */
  page<Of, From extends keyof Of, Row>(query: SelectQueryBuilder<Of, From, Row>, slice: Slice): StorePage<Row>;
  /** Returns the number of changed rows. */
  run(query: Typed<unknown>): number;
  /** Runs `work` in a transaction, which is not nested. */
  transaction: <T>(work: () => T) => T;
  /** For SQL that Kysely cannot build: full-text search and the schema. */
  raw: SqliteDatabase;
  close(): void;
}

/** The queries on some of the tables. */
export abstract class Store {
  protected readonly db: Database;
  protected readonly query: Kysely<Tables>;

  constructor(db: Database) {
    this.db = db;
    this.query = db.query;
  }
}

/**
 * Opens `<dataDir>/origin.db`. Queries are synchronous, so nothing interleaves with a rule.
 * `synchronous = FULL`: a write is on the disk before its response is sent.
 */
export function openDatabase(dataDir: string): Database {
  const raw = openFile(dataDir);
  const statements = new Map<string, SqliteStatement>();
  const query = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });

  function prepared(typed: Typed<unknown>, prepare = (sql: string) => raw.prepare(sql)) {
    const { sql, parameters } = typed.compile();
    let statement = statements.get(sql);
    if (!statement) {
      if (statements.size >= 1000) statements.clear();
      statement = prepare(sql);
      statements.set(sql, statement);
    }
    return { statement, parameters };
  }

  function all<Row>(typed: Typed<Row>): Row[] {
    const { statement, parameters } = prepared(typed);
    return statement.all(...parameters) as Row[];
  }

  return {
    query,
    raw,
    all,
    first: (typed) => all(typed)[0],
    page: (query, { start, count }) => {
      const counted = query
        .clearSelect()
        .clearOrderBy()
        .select(({ fn }) => fn.countAll().as('total'));
      const [row] = all(counted.$castTo<{ total: number }>());
      return { total: row?.total ?? 0, items: all(query.limit(count).offset(start)) };
    },
    run: (typed) => {
      const { statement, parameters } = prepared(typed, (sql) => prepareWrite(raw, sql));
      return Number(statement.run(...parameters).changes);
    },
    transaction: (work) => inTransaction(raw, work),
    close: () => raw.close(),
  };
}

function openFile(dataDir: string): SqliteDatabase {
  let raw: SqliteDatabase | undefined;
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.R_OK | constants.W_OK);
    raw = openSqlite(join(dataDir, 'origin.db'));
    raw.exec(pragmas);
    const opened = raw;
    inTransaction(opened, () => upgrade(opened));
    return opened;
  } catch (error) {
    raw?.close();
    if (error instanceof SqliteMissingError) throw error;
    throw new Error(
      `cannot open the database in ${dataDir}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

const pragmas = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA busy_timeout = 5000;
PRAGMA cache_size = -65536;
`;
