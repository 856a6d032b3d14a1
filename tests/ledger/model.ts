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

/** Commands that move the money of a subject. */
type MoneyCommand =
  | { readonly kind: 'pay' | 'payBounty' | 'arrive' | 'match'; readonly of: number; readonly micros: bigint }
  | { readonly kind: 'complete' | 'refund' | 'payOut' | 'refundSurplus'; readonly of: number }
  | { readonly kind: 'resolve'; readonly of: number; readonly bps: bigint }
  | { readonly kind: 'overdraw'; readonly of: number; readonly account: 'escrow' | 'payable' | 'suspense' }

export type Command =
  | MoneyCommand
  | { readonly kind: 'takeFees'; readonly of: number }
  | { readonly kind: 'repeat' }
  | { readonly kind: 'repeatChanged' }

const of = fc.nat({ max: 2 })
const micros = fc.oneof(
  fc.bigInt({ min: 1n, max: 12n }),
  fc.bigInt({ min: 1n, max: 500_000_000n }),
  fc.bigInt({ min: 10n ** 12n, max: 10n ** 14n }),
)

export const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pay' as const), of, micros }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('payBounty' as const, 'arrive', 'match'), of, micros }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('complete' as const, 'refund', 'payOut', 'refundSurplus'),
      of,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('resolve' as const), of, bps: fc.bigInt(0n, 10_000n) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('overdraw' as const),
      of,
      account: fc.constantFrom('escrow' as const, 'payable', 'suspense'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('takeFees' as const), of: fc.nat({ max: 7 }) }) },
  { weight: 1, arbitrary: fc.constantFrom<Command>({ kind: 'repeat' }, { kind: 'repeatChanged' }) },
)

/** A simple model of the ledger: the balance of each account, without stripes. */
export class LedgerModel {
  readonly network: Network
  readonly balances = new Map<string, bigint>()

  constructor(network: Network) {
    this.network = network
  }

  holds(account: Account): bigint {
    return this.balances.get(nameOf(account)) ?? 0n
  }

  apply(moves: readonly Move[]): void {
    for (const { from, to, amount } of moves) {
      this.balances.set(nameOf(from), this.holds(from) - amount)
      this.balances.set(nameOf(to), this.holds(to) + amount)
    }
  }

  sumOf(kind: string): bigint {
    let sum = 0n
    for (const [name, balance] of this.balances) if (name.startsWith(`${kind}:`)) sum += balance
    return sum
  }
}

/** All stripes of an account have one name. */
export const nameOf = ({ kind, subject }: Pick<Account, 'subject'> & { readonly kind: string }): string =>
  kind === 'world' || kind === 'fees' ? `${kind}:` : `${kind}:${subject}`

/** The moves of a command; moves of zero when there is nothing to move. */
export function movesOf(command: MoneyCommand, model: LedgerModel, run: string): Move[] {
  const { network } = model
  const order = `ord_${run}_${command.of}`
  const escrowAccount = escrow(network, order)
  const out = payable(network, `pay_${run}_${command.of}`)
  const unclaimed = suspense(network, `trf_${run}_${command.of}`)
  const over = surplus(network, order)
  const move = (from: Account, to: Account, amount: bigint): Move => ({ from, to, amount: usdc(amount) })
  const inEscrow = usdc(model.holds(escrowAccount))
  switch (command.kind) {
    case 'pay':
      return [move(world(network), escrowAccount, command.micros)]
    case 'payBounty':
      return [
        move(world(network), escrowAccount, addFee(usdc(command.micros)).due),
        move(world(network), over, 3n),
      ]
    case 'arrive':
      return [move(world(network), unclaimed, command.micros)]
    case 'match': {
      const arrived = model.holds(unclaimed)
      const short = arrived < command.micros
      const due = short ? arrived : command.micros
      return [move(unclaimed, escrowAccount, due), move(unclaimed, over, arrived - due)]
    }
    case 'complete': {
      const { agent, fee } = splitPrice(inEscrow)
      return [move(escrowAccount, out, agent), move(escrowAccount, fees(network), fee)]
    }
    case 'refund':
      return [move(escrowAccount, out, inEscrow)]
    case 'resolve': {
      const { part, rest } = splitByShare(inEscrow, command.bps)
      const { agent, fee } = splitPrice(part)
      return [
        move(escrowAccount, out, agent),
        move(escrowAccount, fees(network), fee),
        move(escrowAccount, over, rest),
      ]
    }
    case 'payOut':
      return [move(out, world(network), model.holds(out))]
    case 'refundSurplus':
      return [move(over, world(network), model.holds(over))]
    case 'overdraw': {
      const from = { escrow: escrowAccount, payable: out, suspense: unclaimed }[command.account]
      return [move(from, world(network), model.holds(from) + 1n)]
    }
  }
}
