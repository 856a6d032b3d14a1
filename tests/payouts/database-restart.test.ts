import { expect, test } from 'vitest'
import {
  expectLedgerMatchesChains,
  expectPaidOnce,
  LONG,
  newOwedPayouts,
  requestPayouts,
  untilFinal,
  withWorker,
} from '../support/owed-payouts.ts'
import { startOwnPostgres } from '../support/own-postgres.ts'
import { startPayoutWorld } from '../support/payout-world.ts'
import { until } from '../support/until.ts'

test('database restart: payouts continue once the ledger was compared with the chains again', {
  timeout: 900_000,
}, async () => {
  const postgres = await startOwnPostgres()
  const world = await startPayoutWorld(2, postgres)
  const { ledger } = world
  try {
    await withWorker(ledger, async () => {
      const [before, after] = [await newOwedPayouts(world, 'before'), await newOwedPayouts(world, 'after')]
      await requestPayouts(ledger, before)
      await untilFinal(world, ledger, before)
      const guards = () =>
        ledger.db.selectFrom('payout_guards').select('database_epoch').orderBy('network').execute()
      const epochs = (await guards()).map(({ database_epoch }) => database_epoch)
      await postgres.crashAndRestart()
      const isReachable = () =>
        guards().then(
          () => true,
          () => false,
        )
      await until('the database is reachable', isReachable, LONG)
      await requestPayouts(ledger, after)
      await untilFinal(world, ledger, after)
      expect((await guards()).filter(({ database_epoch }) => epochs.includes(database_epoch))).toEqual([])
      await expectPaidOnce(world, [...before, ...after])
      await expectLedgerMatchesChains(world, ledger)
    })
  } finally {
    await world.stop()
  }
})
