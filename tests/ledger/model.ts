import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import {
  type Account,
  addFee,
  escrow,
  fees,
  type Move,
  payable,
  splitByShare,
  splitPrice,
  surplus,
  suspense,
  world,
} from '@market/money/ledger'
import fc from 'fast-check'

/** What the market does with the money of a subject, in the words of the ledger. */
type MoneyAct =
  | { readonly act: 'pay' | 'payBounty' | 'arrive' | 'match'; readonly of: number; readonly micros: bigint }
  | { readonly act: 'complete' | 'refund' | 'payOut' | 'giveBack'; readonly of: number }
  | { readonly act: 'resolve'; readonly of: number; readonly bps: bigint }
  | { readonly act: 'overdraw'; readonly of: number; readonly kind: 'escrow' | 'payable' | 'suspense' }

export type Act =
  | MoneyAct
  | { readonly act: 'takeFees'; readonly of: number }
  | { readonly act: 'repeat' }
  | { readonly act: 'repeatOtherwise' }

const of = fc.nat({ max: 2 })
const micros = fc.oneof(
  fc.bigInt({ min: 1n, max: 12n }),
  fc.bigInt({ min: 1n, max: 500_000_000n }),
  fc.bigInt({ min: 10n ** 12n, max: 10n ** 14n }),
)

export const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('pay' as const), of, micros }) },
  {
    weight: 3,
    arbitrary: fc.record({ act: fc.constantFrom('payBounty' as const, 'arrive', 'match'), of, micros }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constantFrom('complete' as const, 'refund', 'payOut', 'giveBack'),
      of,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant('resolve' as const), of, bps: fc.bigInt(0n, 10_000n) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('overdraw' as const),
      of,
      kind: fc.constantFrom('escrow' as const, 'payable', 'suspense'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('takeFees' as const), of: fc.nat({ max: 7 }) }) },
  { weight: 1, arbitrary: fc.constantFrom<Act>({ act: 'repeat' }, { act: 'repeatOtherwise' }) },
)

/** The books as a child would keep them: what each account holds, the stripes taken together. */
export class Book {
  readonly network: Network
  readonly held = new Map<string, bigint>()

  constructor(network: Network) {
    this.network = network
  }

  holds(account: Account): bigint {
    return this.held.get(nameOf(account)) ?? 0n
  }

  apply(moves: readonly Move[]): void {
    for (const { from, to, amount } of moves) {
      this.held.set(nameOf(from), this.holds(from) - amount)
      this.held.set(nameOf(to), this.holds(to) + amount)
    }
  }

  sumOf(kind: string): bigint {
    let sum = 0n
    for (const [name, balance] of this.held) if (name.startsWith(`${kind}:`)) sum += balance
    return sum
  }
}

/** Stripes have no name of their own. */
export const nameOf = ({ kind, subject }: Pick<Account, 'subject'> & { readonly kind: string }): string =>
  kind === 'world' || kind === 'fees' ? `${kind}:` : `${kind}:${subject}`

/** The moves of an act, or none when there is nothing it could move. */
export function movesOf(act: MoneyAct, book: Book, run: string): Move[] {
  const { network } = book
  const order = `ord_${run}_${act.of}`
  const pot = escrow(network, order)
  const out = payable(network, `pay_${run}_${act.of}`)
  const strange = suspense(network, `trf_${run}_${act.of}`)
  const over = surplus(network, order)
  const move = (from: Account, to: Account, amount: bigint): Move => ({ from, to, amount: usdc(amount) })
  const inPot = usdc(book.holds(pot))
  switch (act.act) {
    case 'pay':
      return [move(world(network), pot, act.micros)]
    case 'payBounty':
      return [move(world(network), pot, addFee(usdc(act.micros)).due), move(world(network), over, 3n)]
    case 'arrive':
      return [move(world(network), strange, act.micros)]
    case 'match': {
      const arrived = book.holds(strange)
      const short = arrived < act.micros
      const due = short ? arrived : act.micros
      return [move(strange, pot, due), move(strange, over, arrived - due)]
    }
    case 'complete': {
      const { agent, fee } = splitPrice(inPot)
      return [move(pot, out, agent), move(pot, fees(network), fee)]
    }
    case 'refund':
      return [move(pot, out, inPot)]
    case 'resolve': {
      const { part, rest } = splitByShare(inPot, act.bps)
      const { agent, fee } = splitPrice(part)
      return [move(pot, out, agent), move(pot, fees(network), fee), move(pot, over, rest)]
    }
    case 'payOut':
      return [move(out, world(network), book.holds(out))]
    case 'giveBack':
      return [move(over, world(network), book.holds(over))]
    case 'overdraw': {
      const from = { escrow: pot, payable: out, suspense: strange }[act.kind]
      return [move(from, world(network), book.holds(from) + 1n)]
    }
  }
}
