import { advancePayout, submitPayouts } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, expect, test } from 'vitest'
import { FINALITY } from '../chains/evm-world.ts'
import { startPayoutLedger } from '../support/payout-ledger.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
const ledger = await startPayoutLedger(chain)
afterAll(async () => {
  await ledger.stop()
  await chain.stop()
})

test('freeze_payouts: a batch that is signed while the switch is turned on is not submitted', async () => {
  const payout = await ledger.request()
  await advancePayout(ledger.app, payout.id)
  const { batches } = ledger.sender
  if (batches === undefined) throw new Error('gas accounts send the payouts')
  let signed = 0
  const sign: typeof batches.sign = async (batch) => {
    const bytes = await batches.sign(batch)
    signed += 1
    await ledger.freeze(true)
    return bytes
  }
  await submitPayouts(ledger.app, { ...ledger.sender, batches: { ...batches, sign } })
  await chain.mine(1)
  expect([signed, await ledger.count()]).toEqual([1, 0])

  await ledger.freeze(false)
  await ledger.submit()
  await chain.mine(FINALITY)
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'final' })
  expect(await ledger.count()).toBe(1)
})
