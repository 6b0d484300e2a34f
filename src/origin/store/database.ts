import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Compilable,
  DummyDriver,
  type Insertable,
  Kysely,
  type SelectQueryBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Stored, Tables } from './schema.ts';
import {
  type SqliteDatabase,
  SqliteMissingError,
  type SqliteStatement,
  inTransaction,
  openSqlite,
  prepareWrite,
} from './sqlite.ts';
import { upgrade } from './upgrade.ts';

/** A part of a list. */
export interface Slice {
  start: number;
  count: number;
}
/** A part of a list, and the number of all items. */
export interface StorePage<Row> extends Slice {
  total: number;
  items: Row[];
}

export const pageIn = <Item>(all: readonly Item[], { start, count }: Slice): StorePage<Item> => ({
  start,
  count,
  total: all.length,
  items: all.slice(start, start + count),
});

/** Queries are synchronous, so nothing interleaves with a rule. */
export class Database {
  /** Builds typed queries, which the methods run. */
  readonly query = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  /** For SQL that Kysely cannot build. */
  readonly raw: SqliteDatabase;
  private readonly statements = new Map<string, SqliteStatement>();

  constructor(raw: SqliteDatabase) {
    this.raw = raw;
  }

  all<Row>(typed: Compilable<Row>): Row[] {
    const { statement, parameters } = this.prepared(typed);
    return statement.all(...parameters) as Row[];
  }

  first<Row>(typed: Compilable<Row>): Row | undefined {
    return this.all(typed)[0];
  }

  /** The rows in this part of the list, and the number of all. */
  page<Of, From extends keyof Of, Row>(typed: SelectQueryBuilder<Of, From, Row>, slice: Slice): StorePage<Row> {
    const { start, count } = slice;
    const counted = typed
      .clearSelect()
      .clearOrderBy()
      .select(({ fn }) => fn.countAll<number>().as('total'));
    const [row] = this.all(counted.$castTo<{ total: number }>());
    return { start, count, total: row!.total, items: this.all(typed.limit(count).offset(start)) };
  }

  /** Returns the new row with all its columns. */
  insert<Name extends keyof Tables>(table: Name, row: Insertable<Tables[Name]>): Stored<Name> {
    const insert = this.query.insertInto(table).values(row);
    // The types of Kysely do not know the row of a table that is a type parameter.
    return this.first(insert.returningAll()) as Stored<Name>;
  }

  /** Returns the number of changed rows. */
  run(typed: Compilable<unknown>): number {
    const { statement, parameters } = this.prepared(typed, (sql) => prepareWrite(this.raw, sql));
    return Number(statement.run(...parameters).changes);
  }

  /** Runs `work` in a transaction, which is not nested. */
  transaction<T>(work: () => T): T {
    return inTransaction(this.raw, work);
  }

  close(): void {
    this.raw.close();
  }

  private prepared(typed: Compilable<unknown>, prepare = (sql: string) => this.raw.prepare(sql)) {
    const { sql, parameters } = typed.compile();
    let statement = this.statements.get(sql);
    if (!statement) {
      if (this.statements.size >= 1000) this.statements.clear();
      statement = prepare(sql);
      this.statements.set(sql, statement);
    }
    return { statement, parameters };
  }
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

/** Opens `<dataDir>/origin.db`. `synchronous = FULL`: a write is on the disk before its response is sent. */
export function openDatabase(dataDir: string): Database {
  let raw: SqliteDatabase | undefined;
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.R_OK | constants.W_OK);
    raw = openSqlite(join(dataDir, 'origin.db'));
    raw.exec(pragmas);
    const opened = raw;
    inTransaction(opened, () => upgrade(opened));
    return new Database(opened);
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
