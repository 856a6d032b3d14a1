import type { Db } from '@market/database/transact'
import { idSource } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { testClock } from '@market/testing/clock'

const ids = idSource(testClock(new Date()))

interface SnapshotFields {
  readonly network: Network
  readonly at: Date
  readonly treasury?: string
  readonly short?: bigint
}

/** A snapshot of a treasury without money. A worker takes one every 30 seconds. */
export const insertSnapshot = (db: Db, { network, at, treasury = 'treasury', short = 0n }: SnapshotFields) =>
  db
    .insertInto('reserve_snapshots')
    .values({
      id: ids.next('rsv'),
      network,
      taken_at: at,
      treasury,
      final_micros: 0n,
      latest_micros: 0n,
      ledger_micros: 0n,
      in_flight_micros: 0n,
      in_flight: '[]',
      in_flight_count: 0,
      venues_micros: 0n,
      earn_micros: 0n,
      unfinal_micros: 0n,
      escrow_micros: 0n,
      payable_micros: 0n,
      surplus_micros: 0n,
      suspense_micros: 0n,
      fees_micros: 0n,
      short_micros: short,
    })
    .execute()
