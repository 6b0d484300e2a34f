import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Compilable,
  DummyDriver,
  Kysely,
  type SelectQueryBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { type NewRow, type Stored, type Tables, type ListedTable, orderOf } from './schema.ts';
import { type SqliteDatabase, type SqliteStatement, inTransaction, inTransactionWithin, openSqlite } from './sqlite.ts';
import { checkVersion, upgrade } from './upgrade.ts';
import { UserError } from '../../../lib/user-error.ts';

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

/** What the columns of rows must equal: a value or one of a list; undefined: any. */
type Filter<Name extends keyof Tables> = {
  readonly [Column in keyof Stored<Name>]?: Stored<Name>[Column] | readonly Stored<Name>[Column][] | undefined;
};

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
  /** The types of Kysely do not know the rows of a table that is a type parameter. */
  private readonly anyTable = this.query as unknown as Kysely<Record<string, Record<string, unknown>>>;
  /** For SQL that Kysely cannot build. */
  readonly raw: SqliteDatabase;
  private readonly statements = new Map<string, SqliteStatement>();

  constructor(raw: SqliteDatabase) {
    this.raw = raw;
  }

  /** A row with these values. */
  find<Name extends keyof Tables>(table: Name, values: Partial<Stored<Name>>): Stored<Name> | undefined {
    return this.run(this.matching(table, values))[0] as Stored<Name> | undefined;
  }

  /** All matching rows, or the first of them. */
  rows<Name extends ListedTable>(table: Name, filter: Filter<Name>, most = -1): Stored<Name>[] {
    const rows = this.matching(table, filter)
      .orderBy(sql.raw(orderOf(table)))
      .limit(most);
    return this.run(rows) as Stored<Name>[];
  }

  list<Name extends ListedTable>(
    table: Name,
    filter: Filter<Name>,
    slice: Slice,
    order: string = orderOf(table),
  ): StorePage<Stored<Name>> {
    return this.page(this.matching(table, filter).orderBy(sql.raw(order)), slice) as StorePage<Stored<Name>>;
  }

  count<Name extends keyof Tables>(table: Name, filter: Filter<Name>): number {
    return this.total(this.matching(table, filter));
  }

  /** Returns the new row with all its columns. */
  insert<Name extends keyof Tables>(table: Name, row: NewRow<Name>): Stored<Name> {
    return this.run(this.anyTable.insertInto(table).values(row).returningAll())[0] as Stored<Name>;
  }

  /** undefined: there is a row with the same key. */
  insertNew<Name extends keyof Tables>(table: Name, row: NewRow<Name>): Stored<Name> | undefined {
    const insert = this.anyTable.insertInto(table).values(row);
    return this.run(insert.onConflict((c) => c.doNothing()).returningAll())[0] as Stored<Name> | undefined;
  }

  update<Name extends keyof Tables>(table: Name, values: Partial<Stored<Name>>, changes: Partial<Stored<Name>>): void {
    const update = this.anyTable.updateTable(table as string).set(changes);
    this.run(update.where((row) => row.and(values)));
  }

  remove<Name extends keyof Tables>(table: Name, values: Partial<Stored<Name>>): void {
    this.run(this.anyTable.deleteFrom(table as string).where((row) => row.and(values)));
  }

  /** Runs a query or a write; returns its rows. */
  run<Row>(typed: Compilable<Row>): Row[] {
    const { sql, parameters } = typed.compile();
    let statement = this.statements.get(sql);
    if (!statement) {
      if (this.statements.size >= 1000) this.statements.clear();
      statement = this.raw.prepare(sql);
      this.statements.set(sql, statement);
    }
    return statement.all(...parameters) as Row[];
  }

  /** The rows in this part of the list, and the number of all. */
  page<Of, From extends keyof Of, Row>(typed: SelectQueryBuilder<Of, From, Row>, slice: Slice): StorePage<Row> {
    const { start, count } = slice;
    return { start, count, total: this.total(typed), items: this.run(typed.limit(count).offset(start)) };
  }

  /** Runs `work` in a transaction, which is not nested. */
  transaction<T>(work: () => T): T {
    return inTransaction(this.raw, work);
  }

  /** A transaction while requests are served: if another program writes, it waits without blocking the thread. */
  write<T>(work: () => T): Promise<T> {
    return inTransactionWithin(this.raw, WRITE_WAIT_MS, work);
  }

  /** From here on the thread serves requests, and statements do not wait for other programs. */
  beginServing(): void {
    this.raw.exec('PRAGMA busy_timeout = 0');
  }

  close(): void {
    closeDatabase(this.raw);
  }

  private matching(table: string, filter: object) {
    const values = Object.entries(filter as Record<string, unknown>).filter(([, value]) => value !== undefined);
    return this.anyTable
      .selectFrom(table)
      .selectAll()
      .where((row) => row.and(values.map(([name, value]) => row(name, operatorFor(value), value))));
  }

  private total<Of, From extends keyof Of>(typed: SelectQueryBuilder<Of, From, unknown>): number {
    const counted = typed
      .clearSelect()
      .clearOrderBy()
      .select(({ fn }) => fn.countAll<number>().as('total'));
    return this.run(counted.$castTo<{ total: number }>())[0]!.total;
  }
}

const operatorFor = (value: unknown) => (value === null ? 'is' : Array.isArray(value) ? 'in' : '=');

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
 * Leaves all data in one file. SQLite itself removes the log of writes only if every statement is finalized, which the package for
 * older releases of Node does not do.
 */
function closeDatabase(raw: SqliteDatabase): void {
  try {
    raw.exec('PRAGMA busy_timeout = 100; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;');
  } catch {
    // Another program has the database open: it keeps the log, and SQLite finds it there.
  }
  raw.close();
}

export const DATABASE_FILE = 'origin.db';

/** How long a write waits while another program writes. Clients wait 5 s for a response: they must hear that it was not made. */
const WRITE_WAIT_MS = 3_000;

/** Opens `<dataDir>/origin.db`. `synchronous = FULL`: a write is on the disk before its response is sent. */
export function openDatabase(dataDir: string): Database {
  let raw: SqliteDatabase | undefined;
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.R_OK | constants.W_OK);
    raw = openSqlite(join(dataDir, DATABASE_FILE));
    const opened = raw;
    checkVersion(opened, dataDir);
    raw.exec(pragmas);
    inTransaction(opened, () => upgrade(opened));
    return new Database(opened);
  } catch (error) {
    if (error instanceof UserError) {
      raw?.close();
      throw error;
    }
    if (raw) closeDatabase(raw);
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
