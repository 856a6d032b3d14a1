import { usdc } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import {
  balanceOf,
  escrow,
  fees,
  isOverdraft,
  type Journal,
  type Move,
  post,
  stripesOf,
  totals,
  world,
} from '@market/money/ledger'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ledgerFaults } from './ledger-fixtures.ts'
import { type Command, commands, LedgerModel, movesOf, nameOf } from './model.ts'

/** A new database for each hundred sequences, on each of three networks. */
const ROUNDS = Number(process.env['LEDGER_ROUNDS'] ?? 1)
const SEQUENCES = 100
const LONGEST = 7

/** Runs each command on the ledger and on the model. Both are kept between sequences, to find late faults too. */
class ModelledLedger {
  readonly model: LedgerModel
  readonly ctx: MarketContext
  private readonly network: Network
  private last: Journal | undefined
  private posted = 0

  constructor(ctx: MarketContext, network: Network) {
    this.ctx = ctx
    this.network = network
    this.model = new LedgerModel(network)
  }

  async play(sequence: readonly Command[], run: string): Promise<void> {
    for (const command of sequence) {
      await this.step(command, run)
      await this.compareTotals()
    }
  }

  async compareAccounts(): Promise<void> {
    const rows = await this.ctx.db
      .selectFrom('ledger_accounts')
      .select(['kind', 'subject', 'balance_micros'])
      .where('network', '=', this.network)
      .execute()
    const held = new Map<string, bigint>()
    for (const row of rows) held.set(nameOf(row), (held.get(nameOf(row)) ?? 0n) + row.balance_micros)
    const inUse = (balances: ReadonlyMap<string, bigint>) =>
      [...balances].filter(([, balance]) => balance !== 0n).toSorted()
    expect(inUse(held)).toEqual(inUse(this.model.balances))
  }

  private async step(command: Command, run: string): Promise<void> {
    if (command.kind === 'repeat') return this.repeat()
    if (command.kind === 'repeatChanged') return this.repeatChanged()
    const moves =
      command.kind === 'takeFees' ? await this.feesOf(command.of) : movesOf(command, this.model, run)
    if (moves.every(({ amount }) => amount === 0n)) return
    const journal: Journal = {
      key: `model:${this.network}:${this.posted++}`,
      reason: 'model',
      subject: `ord_${run}_${command.of}`,
      network: this.network,
      moves,
    }
    if (command.kind === 'overdraw') {
      const failure = await this.post(journal).catch((error: unknown) => error)
      expect(isOverdraft(failure)).toBe(true)
      return
    }
    expect(await this.post(journal)).toMatchObject({ isNew: true })
    this.model.apply(moves)
    this.last = journal
  }

  private post(journal: Journal) {
    return this.ctx.transact((tx) => post(this.ctx, tx, journal))
  }

  private async feesOf(of: number): Promise<Move[]> {
    const [stripe] = stripesOf(fees(this.network)).slice(of)
    if (stripe === undefined) return []
    return [{ from: stripe, to: world(this.network), amount: usdc(await balanceOf(this.ctx.db, stripe)) }]
  }

  private async repeat(): Promise<void> {
    if (this.last !== undefined) expect(await this.post(this.last)).toMatchObject({ isNew: false })
  }

  private async repeatChanged(): Promise<void> {
    if (this.last === undefined) return
    const more = { from: world(this.network), to: escrow(this.network, 'ord_other'), amount: usdc(1n) }
    const other = this.post({ ...this.last, moves: [...this.last.moves, more] })
    await expect(other).rejects.toThrow(/with other moves|passes money through/)
  }

  private async compareTotals(): Promise<void> {
    const sum = (kind: string) => this.model.sumOf(kind)
    const now = await totals(this.ctx.db, this.network)
    expect(now).toEqual({
      treasuryView: -sum('world'),
      coldView: 0n,
      venuesView: 0n,
      liabilities: {
        ...{ escrow: sum('escrow'), payable: sum('payable'), surplus: sum('surplus') },
        withdrawal: 0n,
      },
      fees: sum('fees'),
      suspense: sum('suspense'),
      imbalance: 0n,
    })
    const { escrow: held, payable: owed, surplus } = now.liabilities
    expect(now.treasuryView).toBe(held + owed + surplus + now.fees + now.suspense)
  }
}

test('ledger: equals the model and sums to zero after every command of any sequence', {
  timeout: 60_000 + ROUNDS * 120_000,
}, async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const database = await testDatabase({ maxConnections: 4 })
    try {
      const ctx = marketContext({ db: database.db })
      let run = 0
      await Promise.all(
        NETWORKS.map(async (network) => {
          const ledger = new ModelledLedger(ctx, network)
          const sequences = fc.array(commands, { minLength: 2, maxLength: LONGEST })
          const property = fc.asyncProperty(sequences, (sequence) =>
            ledger.play(sequence, `${round}_${run++}`),
          )
          await fc.assert(property, { numRuns: SEQUENCES })
          await ledger.compareAccounts()
        }),
      )
      expect(await ledgerFaults(database.db)).toEqual([])
    } finally {
      await database.stop()
    }
  }
})
