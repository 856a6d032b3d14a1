import { later } from '@market/kernel/clock'
import { makeEvmWallet, makeListedAgent } from '@market/testing/makers'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { expect, test } from 'vitest'
import { PAYOUT_DELAY_MS } from './payout-settings.ts'
import { recordPayoutAddresses } from './record-addresses.ts'

test('recordPayoutAddresses: an address that a row names later waits 24 hours, and the owner is notified', async () => {
  const database = await testDatabase()
  try {
    const { db } = database
    const ctx = marketContext({ db })
    const owner = makeEvmWallet()
    const { agent } = await makeListedAgent(ctx, { owner: { kind: 'wallet', wallet: owner } })
    await recordPayoutAddresses(ctx)
    const address = makeEvmWallet().key
    // As a program with the api's rights could make it look confirmed.
    await db.updateTable('agents').set({ payout_address_base: address }).where('id', '=', agent.id).execute()
    await recordPayoutAddresses(ctx)
    const now = ctx.clock.now()
    const rows = await db
      .selectFrom('payout_addresses')
      .selectAll()
      .where('agent_id', '=', agent.id)
      .execute()
    const onBase = rows.filter(({ network }) => network === 'base-mainnet')
    expect(onBase.find((row) => row.address === owner.key)?.effective_at).toEqual(now)
    expect(onBase.find((row) => row.address === address)?.effective_at).toEqual(later(now, PAYOUT_DELAY_MS))
    const sent = await db.selectFrom('notifications').selectAll().execute()
    expect(sent.filter(({ kind }) => kind === 'agent.payout_address_waits')).toHaveLength(1)
    expect(await db.selectFrom('payout_changes').selectAll().execute()).toEqual([])
  } finally {
    await database.stop()
  }
})
