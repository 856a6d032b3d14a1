import type { Actor } from '@market/core/context'
import { HOUR } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import type { Bounty, Claim } from '@market/offers/bounties'
import { agentActor } from '@market/testing/make-actor'
import { makeAgent } from '@market/testing/makers'
import { expect } from 'vitest'
import { newBuyer, type Seller } from '../orders/order-fixture.ts'
import { newPayment, type Payment } from '../payments/in-memory-chain.ts'
import { type Act, KEY_AGENT, MOST_BOUNTIES, ORDER_ACTS, type OrderAct, POSTERS } from './bounty-acts.ts'
import type { BountyFixture, Claimant, Poster } from './bounty-fixture.ts'
import { BountyModel } from './bounty-model.ts'
import { at, dueFor, ORDER_STEPS, ownerName, posterName, SWEEP_MS } from './bounty-model-state.ts'
import { expectedOf, type Names, observe } from './bounty-observation.ts'
import { endOf } from './race-fixture.ts'

/** Plays a history with the commands and with the model, and compares them after each step. */
export class BountyHistory {
  readonly model: BountyModel
  /** What the commands came to. */
  readonly outcomes = new Set<string>()
  private readonly fixture: BountyFixture
  private readonly posters: readonly Poster[]
  private readonly claimants: readonly Claimant[]
  private readonly owners: ReadonlyMap<string, string>
  private readonly posted: Bounty[] = []
  private readonly claims: Claim[][] = []
  private readonly payments: Payment[] = []

  private constructor(
    fixture: BountyFixture,
    posters: readonly Poster[],
    claimants: readonly Claimant[],
    owners: ReadonlyMap<string, string>,
  ) {
    this.fixture = fixture
    this.posters = posters
    this.claimants = claimants
    this.owners = owners
    this.model = new BountyModel(fixture.clock.now().getTime())
  }

  /** New posters, so that their transfers and notifications are only those of this history. */
  static async start(fixture: BountyFixture, claimants: readonly Claimant[]): Promise<BountyHistory> {
    const owner = newBuyer()
    const { agent } = await makeAgent(fixture.ctx, { owner: { kind: 'wallet', wallet: owner.wallet } })
    const key = { ...agentActor(agent.id), ownerWallets: [owner.wallet], wallet: owner.wallet } as Poster
    const posters = [newBuyer(), newBuyer(), key]
    const all = [...claimants, { agentId: agent.id, actor: agentActor(agent.id) }]
    const rows = await fixture.db
      .selectFrom('agents')
      .select(['id', 'owner_wallet'])
      .where(
        'id',
        'in',
        all.map(({ agentId }) => agentId),
      )
      .execute()
    const owners = new Map([
      ...posters.map(({ wallet }, n) => [`wallet:${wallet.key}`, posterName(n)] as const),
      ...rows.map(
        (row) =>
          [
            `wallet:${row.owner_wallet}`,
            ownerName(all.findIndex(({ agentId }) => agentId === row.id)),
          ] as const,
      ),
    ])
    return new BountyHistory(fixture, posters, all, owners)
  }

  async step(act: Act): Promise<void> {
    // Ids are random within a millisecond, and rows are compared in the order of their times.
    this.pass(1)
    await this.play(act)
    await this.compare()
  }

  /** Lets every deadline pass. Nothing is open or waited for then. */
  async end(): Promise<void> {
    for (let n = 0; n < 2; n++) await this.step({ act: 'wait', ms: 31 * 24 * HOUR, isSwept: true })
    for (const { status, claims } of this.model.bounties) {
      expect(status).not.toBe('open')
      expect(claims.map((claim) => claim.status)).not.toContain('pending')
    }
    expect(this.model.acceptances.map(({ status }) => status)).not.toContain('waiting')
  }

  private pass(ms: number): void {
    this.fixture.clock.advance(ms)
    this.model.now += ms
  }

  private async compare(): Promise<void> {
    expect(await observe(this.fixture, this.names())).toEqual(expectedOf(this.model, this.posters.length))
  }

  private names(): Names {
    const agentOf = (id: string) => this.claimants.findIndex(({ agentId }) => agentId === id)
    return {
      bountyIds: this.posted.map(({ id }) => id),
      references: this.payments.map(({ reference }) => reference),
      wallets: this.posters.map(({ wallet }) => wallet.key),
      agentOf,
      recipientOf: (recipient) => this.owners.get(recipient) ?? recipient,
      ownerOf: (id) => ownerName(agentOf(id)),
    }
  }

  private async play(act: Act): Promise<void> {
    switch (act.act) {
      case 'post':
        return this.post(act)
      case 'claim':
        this.pass(act.afterMs)
        return this.claim(this.bountyOf(act.of), act.agent)
      case 'withdraw': {
        const of = this.bountyOf(act.of)
        const withdrawn = this.fixture.withdraw(at(this.claimants, act.agent), at(this.posted, of).id)
        return this.expectEnd(withdrawn, this.model.withdraw(of, act.agent))
      }
      case 'cancel': {
        const of = this.bountyOf(act.of)
        const by = this.callerFor(of, act.isPoster)
        const cancelled = this.fixture.cancelBounty(at(this.posters, by), at(this.posted, of).id)
        return this.expectEnd(cancelled, this.model.cancel(of, by))
      }
      case 'accept':
        return this.accept(act)
      case 'confirm':
        return this.confirm(act.transfer)
      case 'order':
        return this.actOnOrder(this.bountyOf(act.of), act.action)
      case 'onward':
        return this.goOn(act.pick)
      case 'wait':
        this.pass(act.ms)
        return act.isSwept ? this.sweep() : undefined
      case 'waitUntil': {
        const deadlines = this.model.deadlines()
        const until = deadlines[act.pick % Math.max(1, deadlines.length)]
        if (until !== undefined) this.pass(Math.max(0, until + act.offset - this.model.now))
        return act.isSwept ? this.sweep() : undefined
      }
    }
  }

  private bountyOf(of: number): number {
    return of % this.posted.length
  }

  private callerFor(of: number, isPoster: boolean): number {
    const { poster } = this.model.bountyAt(of)
    return isPoster ? poster : (poster + 1) % POSTERS
  }

  private async expectEnd(command: Promise<unknown>, expected: string): Promise<void> {
    const ended = await endOf(command)
    expect(ended).toBe(expected)
    this.outcomes.add(ended)
  }

  private async post(act: Extract<Act, { act: 'post' }>): Promise<void> {
    if (this.posted.length === MOST_BOUNTIES) return
    const { poster, budget, windowHours, deadlineHours } = act
    const by = at(this.posters, poster)
    this.posted.push(
      await this.fixture.postAs(by, by.wallet, {
        budget: usdc(budget),
        claimWindowHours: windowHours,
        deadlineHours,
      }),
    )
    this.claims.push([])
    this.model.post({ poster, budget, windowMs: windowHours * HOUR, deadlineMs: deadlineHours * HOUR })
  }

  private async claim(of: number, agent: number): Promise<void> {
    const claimed = this.fixture.claim(at(this.claimants, agent), at(this.posted, of).id)
    await this.expectEnd(claimed, this.model.claim(of, agent))
    const claim = await claimed.catch(() => undefined)
    if (claim !== undefined) at(this.claims, of).push(claim)
  }

  private async accept(act: Extract<Act, { act: 'accept' }>): Promise<void> {
    const of = this.bountyOf(act.of)
    const claims = at(this.claims, of)
    if (claims.length === 0) return
    const by = this.callerFor(of, act.isPoster)
    const transfer = this.transferFor(act, of, by)
    // Which of two bounties gets a transfer that both wait for is decided by chance.
    if (
      this.model.acceptances.some(
        (one) => one.transfer === transfer && one.bounty !== of && one.status === 'waiting',
      )
    )
      return
    const nth = this.chooseClaim(act, of)
    const accepted = this.fixture.accept(
      at(this.posters, by),
      at(claims, nth),
      at(this.payments, transfer).reference,
    )
    await this.expectEnd(accepted, this.model.accept(of, nth, transfer, by))
  }

  private chooseClaim({ claim, isPending }: Extract<Act, { act: 'accept' }>, of: number): number {
    const all = this.model.bountyAt(of).claims
    const pending = [...all.keys()].filter((n) => at(all, n).status === 'pending')
    return (isPending ? pending[claim % Math.max(1, pending.length)] : undefined) ?? claim % all.length
  }

  private transferFor(
    { transfer, earlier, more }: Extract<Act, { act: 'accept' }>,
    of: number,
    payer: number,
  ): number {
    if (transfer === 'earlier' && this.payments.length > 0) return earlier % this.payments.length
    const amount = dueFor(this.model.bountyAt(of).budget) + more
    const payment = newPayment([[at(this.posters, payer).wallet.key, amount]])
    const isConfirmed = transfer !== 'unconfirmed'
    if (isConfirmed) this.fixture.chain.mine([payment])
    this.model.transfers.push({ payer, amount, isConfirmed, use: 'unused' })
    return this.payments.push(payment) - 1
  }

  /** One at a time: of two that are confirmed at once, chance decides which one wins. */
  private async confirm(pick: number): Promise<void> {
    const open = [...this.model.transfers.keys()].filter((n) => !this.model.transferAt(n).isConfirmed)
    const transfer = open[pick % Math.max(1, open.length)]
    if (transfer === undefined) return
    this.fixture.chain.mine([at(this.payments, transfer)])
    await this.fixture.watch()
    this.pass(SWEEP_MS)
    await this.fixture.finish()
    this.model.confirm(transfer)
  }

  private async sweep(): Promise<void> {
    const { fixture } = this
    this.pass(SWEEP_MS)
    await fixture.finish()
    await Promise.all([fixture.expire(), fixture.expire()])
    await fixture.sweepDue()
    await fixture.watch()
    this.model.sweep()
  }

  private async goOn(pick: number): Promise<void> {
    const open = this.model.bounties.flatMap(({ order }, of) =>
      order === undefined
        ? []
        : ORDER_ACTS.filter((act) => act in ORDER_STEPS[order.status]).map((act) => ({ of, act })),
    )
    const next = open[pick % Math.max(1, open.length)]
    if (next !== undefined) await this.actOnOrder(next.of, next.act)
  }

  private async actOnOrder(of: number, action: OrderAct): Promise<void> {
    await this.fixture.sweepDue()
    const expected = this.model.actOnOrder(of, action)
    if (expected === undefined) return
    const { id } = await this.fixture.db
      .selectFrom('orders')
      .select('id')
      .where('bounty_id', '=', at(this.posted, of).id)
      .executeTakeFirstOrThrow()
    await this.expectEnd(this.takeAction(of, action, id as OrderId), expected)
  }

  private takeAction(of: number, action: OrderAct, id: OrderId): Promise<unknown> {
    const { fixture, model } = this
    const { poster, claims } = model.bountyAt(of)
    const buyer: Actor = at(this.posters, poster)
    const winner = claims.find(({ status }) => status === 'accepted')?.agent ?? KEY_AGENT
    const seller = { provider: at(this.claimants, winner).actor } as Seller
    const acts: Record<OrderAct, () => Promise<unknown>> = {
      deliver: () => fixture.deliver(seller, id),
      approve: () => fixture.approve(buyer, id),
      cancel: () => fixture.cancel(of % 2 === 0 ? buyer : seller.provider, id),
      dispute: () => fixture.dispute(buyer, id),
      refund: () => fixture.refund(seller, id),
    }
    return acts[action]()
  }
}
