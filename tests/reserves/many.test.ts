import type { Db } from '@market/database/transact'
import { proveLiabilities } from '@market/reserves/snapshots'
import { startEvmNetwork } from '@market/testing/evm-network'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { NETWORK, openTreasury } from './treasury.ts'

const LEAVES = 100_000
const PART = 10_000
/** Every hundredth leaf is of the same wallet, so that its leaves lie in all groups. */
const BUSY = `0x${'b'.repeat(40)}`
const QUIET = `0x${'7'.padStart(40, '0')}`

const took = async <T>(work: Promise<T>): Promise<{ result: T; ms: number }> => {
  const begun = performance.now()
  return { result: await work, ms: Math.round(performance.now() - begun) }
}

/** Inserts 100,000 paid orders in batches; posting each would take minutes. */
async function owe(db: Db, total: bigint): Promise<void> {
  await sql`alter table ledger_accounts disable trigger user`.execute(db)
  await sql`
    insert into ledger_accounts (id, kind, network, subject, may_be_negative, balance_micros, created_at, updated_at)
    values ('world:' || ${NETWORK} || ':0', 'world', ${NETWORK}, '0', true, ${-total}::bigint, now(), now())`.execute(
    db,
  )
  for (let first = 1; first <= LEAVES; first += PART) {
    const part = sql`generate_series(${first}::integer, ${first + PART - 1}::integer) n`
    await sql`
      insert into ledger_accounts (id, kind, network, subject, may_be_negative, balance_micros, created_at, updated_at)
      select 'escrow:' || ${NETWORK} || ':order:' || n, 'escrow', ${NETWORK}, 'order:' || n, false, n, now(), now()
      from ${part}`.execute(db)
    await sql`
      insert into transfers (network, reference, purpose, payer, amount_micros, due_micros, block_height, block_hash,
        happened_at, state, checked_at, created_at)
      select ${NETWORK}, '0x' || lpad(to_hex(n), 64, '0'), 'order:' || n,
        case when n % 100 = 0 then ${BUSY} else '0x' || lpad(to_hex(n), 40, '0') end,
        n, n, 1, 'a block', now(), 'final', now(), now()
      from ${part}`.execute(db)
  }
}

test('a snapshot with 100,000 liabilities is saved, and one is proven without reading all of them', async () => {
  const [network, database] = await Promise.all([startEvmNetwork({ chainId: 8453 }), testDatabase()])
  try {
    const { db } = database
    const treasury = await openTreasury(db, network)
    const total = (BigInt(LEAVES) * BigInt(LEAVES + 1)) / 2n
    await owe(db, total)
    await sql`update followed_networks set treasury_micros = ${total}, held_height = final_height`.execute(db)
    await sql`analyze`.execute(db)

    const plain = await took(treasury.takeSnapshot())
    const proven = await took(treasury.takeSnapshot(true))
    expect(proven.result).toMatchObject({ short: 0n, proof: { leaves: LEAVES } })

    const one = await took(proveLiabilities(treasury.ctx, { proven: [QUIET], payees: [] }, { limit: 20 }))
    expect(one.result).toMatchObject({ omitted: 0, proofs: [{ total, leaf: { micros: 7n, holder: QUIET } }] })
    expect(one.result.proofs[0]?.path).toHaveLength(17)
    const many = await took(proveLiabilities(treasury.ctx, { proven: [BUSY], payees: [] }, { limit: 100 }))
    expect(many.result.proofs.map(({ leaf }) => leaf.micros)).toEqual(
      Array.from({ length: 100 }, (_, n) => BigInt(LEAVES - 100 * n)),
    )
    expect(many.result.omitted).toBe(LEAVES / 100 - 100)

    const figures = {
      snapshot: plain.ms,
      snapshotWithProof: proven.ms,
      oneProof: one.ms,
      hundredProofs: many.ms,
    }
    process.stdout.write(`${LEAVES} liabilities, in milliseconds: ${JSON.stringify(figures)}\n`)
    // Compared with each other, because both depend on the speed of the machine.
    expect(one.ms * 10).toBeLessThan(proven.ms)
  } finally {
    await Promise.all([network.stop(), database.stop()])
  }
})
