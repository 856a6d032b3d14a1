import { randomUUID } from 'node:crypto'
import { connect } from '@market/database/connect'
import { readiness } from '@market/database/readiness'
import { earlier, HOUR, MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { post, venue, withdrawal } from '@market/money/ledger'
import { testKeys } from '@market/testing/keys'
import { makeAgent } from '@market/testing/makers'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { startMetricsServer } from '@market/worker/metrics-server'
import { expect, test } from 'vitest'
import { insertSnapshot } from '../support/reserve-snapshots.ts'

const NO_NETWORKS = { networks: () => [], canAnchor: () => false }

test('worker metrics: served while the database is down, without the queue length; readiness says why', async () => {
  const logged: object[] = []
  const db = connect({ url: 'postgres://nobody@127.0.0.1:1/away' })
  const metrics = await startMetricsServer({
    host: '127.0.0.1',
    port: 0,
    readers: ['127.0.0.1'],
    hotMax: {},
    ctx: marketContext({ db }),
    ...NO_NETWORKS,
    whyNotReady: readiness(db, { info: () => {}, error: (fields) => void logged.push(fields) }),
    isStopping: () => false,
  })
  try {
    metrics.countFailure('deliver-events')
    const response = await fetch(`${metrics.address}/metrics`)
    const text = await response.text()
    expect(response.status).toBe(200)
    expect(text).toContain('market_job_failures_total{task="deliver-events"} 1')
    expect(text).toMatch(/^market_jobs_waiting nan$/im)
    expect(text).toMatch(/^market_ready 0$/m)
    expect(text).toMatch(/^market_webhooks_dropped nan$/im)

    for (let n = 0; n < 3; n++) {
      const ready = await fetch(`${metrics.address}/readyz`)
      expect([ready.status, await ready.json()]).toEqual([
        503,
        { status: 'not ready', reason: 'database unreachable' },
      ])
    }
    expect(logged).toEqual([{ reason: 'database unreachable' }])
  } finally {
    await metrics.stop()
    await db.destroy()
  }
})

test('worker metrics: shows what belongs to the depositors of a pool, what is owed to them, and which pools are paused', async () => {
  const database = await testDatabase()
  const ctx = marketContext({ db: database.db })
  const network = 'base-mainnet'
  const row = { network, kind: 'lending', wallet: `0x${'b'.repeat(40)}`, created_at: ctx.clock.now() }
  await database.db
    .insertInto('earn_pools')
    .values([
      {
        ...{
          ...row,
          key: 'morpho:usdc',
          vault: `0x${'a'.repeat(40)}`,
          paused: null,
          read_at: row.created_at,
        },
        ...{ total_shares: '10', queued_shares: '2', ratio_shares: '1', ratio_vault_shares: '1' },
        ...{ valued_shares: '12', value_micros: 12_600_000n, tvl_micros: 0n, liquid_micros: 0n },
      },
      { ...row, key: 'other:usdc', vault: `0x${'c'.repeat(40)}`, paused: 'price' },
    ])
    .execute()
  const moves = [{ from: venue(network, 'emv_1'), to: withdrawal(network, 'ewd_1'), amount: usdc(1n) }]
  await ctx.transact((tx) => post(ctx, tx, { key: 'test', reason: 'test', subject: 'test', network, moves }))
  const metrics = await startMetricsServer({
    ...{ host: '127.0.0.1', port: 0, readers: ['127.0.0.1'], hotMax: {}, ctx, ...NO_NETWORKS },
    whyNotReady: async () => undefined,
    isStopping: () => false,
  })
  try {
    const text = await (await fetch(`${metrics.address}/metrics`)).text()
    expect(text).toMatch(/^market_earn_paused_pools 1$/m)
    expect(text).toMatch(/^market_earn_equity_usdc\{pool="morpho:usdc"\} 10\.5$/m)
    expect(text).toMatch(/^market_earn_equity_usdc\{pool="other:usdc"\} 0$/m)
    expect(text).toMatch(/^market_earn_owed_usdc\{network="base-mainnet"\} 2\.100001$/m)
  } finally {
    await metrics.stop()
    await database.stop()
  }
})

test('worker metrics: shows the age of the newest snapshot, the final block, dropped webhooks, wallets without a key, and readiness', async () => {
  const database = await testDatabase()
  const ctx = marketContext({ db: database.db })
  const now = ctx.clock.now()
  const row = { event: 'order.paid', order_id: 'ord_1', status: 'dropped', ended_at: now, created_at: now }
  await database.db
    .insertInto('deliveries')
    .values(
      ['agt_a', 'agt_a', 'agt_b'].map((agent_id, seq) => ({
        ...row,
        id: randomUUID(),
        agent_id,
        seq: BigInt(seq),
      })),
    )
    .execute()
  await insertSnapshot(database.db, { network: 'base-mainnet', at: earlier(now, 90_000) })
  // It was read before this market stopped to use it.
  await insertSnapshot(database.db, { network: 'solana-mainnet', at: earlier(now, 900_000) })
  const followed = { final_hash: '0x1', treasury: '0x2' }
  await database.db
    .insertInto('followed_networks')
    .values([
      { ...followed, network: 'base-mainnet', final_height: 41n },
      { ...followed, network: 'solana-mainnet', final_height: 7n },
    ])
    .execute()
  for (let n = 0; n < 2; n++) await makeAgent({ ...ctx, vault: testKeys().vault })
  let reason: string | undefined
  const metrics = await startMetricsServer({
    ...{ host: '127.0.0.1', port: 0, readers: ['127.0.0.1'], hotMax: {}, ctx },
    networks: () => ['base-mainnet', 'alt-mainnet'],
    canAnchor: () => false,
    whyNotReady: async () => reason,
    isStopping: () => false,
  })
  const read = async () => (await fetch(`${metrics.address}/metrics`)).text()
  try {
    const text = await read()
    expect(text).toMatch(/^market_reserve_snapshot_age_seconds\{network="base-mainnet"\} 90(?:\.\d+)?$/m)
    expect(text).not.toMatch(/^market_reserve_snapshot_age_seconds\{network="(?:alt|solana)-mainnet"\}/m)
    expect(text).toMatch(/^market_final_block_height\{network="base-mainnet"\} 41$/m)
    expect(text).not.toMatch(/^market_final_block_height\{network="(?:alt|solana)-mainnet"\}/m)
    expect(text).toMatch(/^market_reserve_anchor_age_seconds nan$/im)
    expect(text).toMatch(/^market_webhooks_dropped 3$/m)
    expect(text).toMatch(/^market_webhooks_dropped_agents 2$/m)
    expect(text).toMatch(/^market_wallets_unopenable 2$/m)
    expect(text).toMatch(/^market_ledger_imbalance_micros\{network="base-mainnet"\} 0$/m)
    expect(text).toMatch(/^market_ready 1$/m)
    reason = 'database unreachable'
    expect(await read()).toMatch(/^market_ready 0$/m)
  } finally {
    await metrics.stop()
    await database.stop()
  }
})

test('worker metrics: figures that another worker measures by now are no longer shown', async () => {
  const database = await testDatabase()
  const ctx = marketContext({ db: database.db })
  const metrics = await startMetricsServer({
    ...{ host: '127.0.0.1', port: 0, readers: ['127.0.0.1'], hotMax: {}, ctx, ...NO_NETWORKS },
    whyNotReady: async () => undefined,
    isStopping: () => false,
  })
  const read = async () => (await fetch(`${metrics.address}/metrics`)).text()
  const gas = /^market_gas_settlements_left\{network="base-mainnet"\} (\S+)$/m
  const broken = /^market_audit_broken (\S+)$/m
  const figures = async () => {
    const text = await read()
    return [gas.exec(text)?.[1], broken.exec(text)?.[1]?.toLowerCase()]
  }
  try {
    expect(await figures()).toEqual([undefined, 'nan'])
    metrics.recordGas([{ network: 'base-mainnet', balance: 24n, settlementsLeft: 12 }])
    metrics.recordAudit({ head: { seq: 3n, seal: Buffer.alloc(32) }, brokenAt: 2n })
    expect(await figures()).toEqual(['12', '1'])
    ctx.clock.advance(3 * MINUTE)
    expect(await figures()).toEqual([undefined, '1'])
    ctx.clock.advance(3 * HOUR)
    expect(await figures()).toEqual([undefined, 'nan'])
  } finally {
    await metrics.stop()
    await database.stop()
  }
})
