import type { Buyer } from '@market/core/events'
import type { Db, Tx } from '@market/database/transact'
import { EVER } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { claimTransfer, NamedBefore, openIntent, type PurposeRule } from '@market/money/payments'
import { sql } from 'kysely'

/**
 * A purpose in one file: a donation, which is paid with a transfer of at least its amount. It uses the kind of a deposit,
 * because a new kind also needs a line in `purpose.ts` and in the CHECK of `payment_intents`.
 */

export const TABLE = sql`create table donations (
  id text primary key, amount_micros bigint not null check (amount_micros > 0),
  status text not null check (status in ('promised', 'paid', 'failed')), tx text)`

export interface Donate {
  readonly id: string
  readonly network: Network
  readonly reference: string
}

interface Donation {
  readonly id: string
  readonly amount: Usdc
  readonly status: 'promised' | 'paid' | 'failed'
  readonly tx: string | null
}

type Row = Omit<Donation, 'amount'> & { readonly amount_micros: bigint }

async function find(db: Db | Tx, id: string, lock = sql``): Promise<Donation> {
  const { rows } = await sql<Row>`select * from donations where id = ${id} ${lock}`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error(`${id} is a donation`)
  return { ...row, amount: usdc(row.amount_micros) }
}

const lockDonation = (tx: Tx, id: string): Promise<Donation> => find(tx, id, sql`for update`)

async function save(tx: Tx, { id }: Donation, status: Donation['status'], by: string | null): Promise<void> {
  await sql`update donations set status = ${status}, tx = ${by} where id = ${id}`.execute(tx)
}

const purposeOf = ({ id }: Donation) => ({ kind: 'earn_deposit', id }) as const

export const donationPurpose: PurposeRule<'earn_deposit', Donate, Donation> = {
  purposeOf,
  due: ({ amount }) => amount,
  notBefore: () => EVER,
  buyerOf: (): Buyer => 'wallet:donor',

  async begin(ctx, { wanted }) {
    const donation = await find(ctx.db, wanted.id)
    const paidBefore = new NamedBefore(async (tx) => find(tx, wanted.id))
    if (donation.tx === wanted.reference) return paidBefore
    return {
      target: donation,
      async lock(tx) {
        const locked = await lockDonation(tx, wanted.id)
        return locked.tx === wanted.reference ? paidBefore : locked
      },
    }
  },

  async lock(tx, { purpose }) {
    const donation = await lockDonation(tx, purpose.id)
    return donation.status === 'promised' ? donation : undefined
  },

  async onPaid(ctx, tx, donation, { network, transfer }) {
    const purpose = purposeOf(donation)
    await claimTransfer(ctx, tx, { network, seen: transfer, purpose, due: donation.amount })
    await save(tx, donation, 'paid', transfer.reference)
    return { ...donation, status: 'paid', tx: transfer.reference }
  },

  async onFailed(_, tx, donation) {
    await save(tx, donation, 'failed', null)
  },

  async onReversed(ctx, tx, { network, reference, payer, purpose, due }) {
    await save(tx, await lockDonation(tx, purpose.id), 'promised', null)
    const payers = payer === null ? null : [payer]
    await openIntent(ctx, tx, { purpose, network, reference, payers, due, notBefore: EVER, submission: null })
  },
}
