import pg from 'pg'

/** Lines that describe a database: everything that a migration can create, sorted. */
const LINES: readonly string[] = [
  `select format('extension %s %s', extname, extversion) from pg_extension`,
  `select format('setting %s of %s: %s', setdatabase <> 0, coalesce(rolname, 'everybody'), setconfig)
   from pg_db_role_setting left join pg_roles on pg_roles.oid = setrole
   where setdatabase in (0, (select oid from pg_database where datname = current_database()))`,
  `select format('schema %s %s owner %s', nspname, coalesce(nspacl::text, ''), nspowner::regrole) from pg_namespace
   where nspname in ('public', 'graphile_worker')`,
  `select format('table %s kind %s owner %s acl %s options %s security %s %s partition %s %s replica %s', t.oid::regclass,
     relkind, relowner::regrole, (select array_agg(a::text order by a::text) from unnest(relacl) a), reloptions,
     relrowsecurity, relforcerowsecurity, pg_get_expr(relpartbound, t.oid), pg_get_partkeydef(t.oid), relreplident)
   from pg_class t where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')`,
  `select format('column %s.%s %s%s default %s generated %s identity %s collation %s storage %s statistics %s acl %s',
     attrelid::regclass, attname, format_type(atttypid, atttypmod), case when attnotnull then ' not null' else '' end,
     pg_get_expr(adbin, adrelid), attgenerated, attidentity, attcollation::regcollation, attstorage, attstattarget, attacl)
   from pg_attribute a join pg_class t on t.oid = attrelid
     left join pg_attrdef d on d.adrelid = attrelid and d.adnum = attnum
   where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped`,
  `select format('constraint %s: %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
   where connamespace = 'public'::regnamespace`,
  `select format('index %s valid %s clustered %s', pg_get_indexdef(indexrelid), indisvalid, indisclustered) from pg_index
     join pg_class on pg_class.oid = indexrelid where relnamespace = 'public'::regnamespace`,
  `select format('trigger %s enabled %s', pg_get_triggerdef(t.oid), tgenabled) from pg_trigger t
     join pg_class on pg_class.oid = tgrelid where relnamespace = 'public'::regnamespace and not tgisinternal`,
  `select format('function owner %s acl %s %s', proowner::regrole, (select array_agg(a::text order by a::text) from unnest(proacl) a),
     pg_get_functiondef(p.oid)) from pg_proc p
   where pronamespace = 'public'::regnamespace and not exists (select from pg_depend where objid = p.oid and deptype = 'e')`,
  `select format('sequence %s %s', seqrelid::regclass, row(seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle))
   from pg_sequence`,
  `select format('type %s %s', oid::regtype, typtype) from pg_type t where typnamespace = 'public'::regnamespace
     and typtype in ('e', 'd', 'r') and not exists (select from pg_depend where objid = t.oid and deptype = 'e')`,
  `select format('policy %s.%s %s %s %s %s %s', schemaname, tablename, policyname, roles, cmd, qual, with_check) from pg_policies`,
  `select format('default privilege %s %s %s', defaclrole::regrole, defaclobjtype, defaclacl) from pg_default_acl`,
  `select format('role %s %s', rolname, row(rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolbypassrls))
   from pg_roles where rolname like 'market%'`,
  `select format('member %s of %s', member::regrole, roleid::regrole) from pg_auth_members where member::regrole::text like 'market%'`,
  `select format('comment %s %s: %s', classoid::regclass, objoid, description) from pg_description d
     join pg_class on pg_class.oid = objoid where relnamespace = 'public'::regnamespace`,
  `select format('statistics %s', pg_get_statisticsobjdef(oid)) from pg_statistic_ext`,
  `select format('rule %s', pg_get_ruledef(r.oid)) from pg_rewrite r join pg_class on pg_class.oid = ev_class
   where relnamespace = 'public'::regnamespace`,
]

export interface Catalog {
  readonly lines: readonly string[]
  /** The columns of each table in their order. */
  readonly order: Readonly<Record<string, readonly string[]>>
}

export async function describeCatalog(url: string): Promise<Catalog> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const ask = async (text: string) => (await client.query<string[]>({ text, rowMode: 'array' })).rows
    const lines: string[] = []
    for (const statement of LINES) lines.push(...(await ask(statement)).map(([line]) => line ?? ''))
    const tables = await ask(
      `select relname::text, array_to_string(array_agg(attname order by attnum), ',') from pg_class
         join pg_attribute on attrelid = pg_class.oid
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped
       group by relname order by relname`,
    )
    for (const [table] of tables) {
      if (table === 'migrations') continue
      const rows = await ask(`select to_jsonb(t)::text from public.${table} t`)
      lines.push(...rows.map(([row]) => `row ${table} ${row}`))
    }
    return {
      lines: lines.sort(),
      order: Object.fromEntries(tables.map(([table, columns]) => [table, (columns ?? '').split(',')])),
    }
  } finally {
    await client.end()
  }
}
