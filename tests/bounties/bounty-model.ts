import type { BountyStatus, ClaimStatus } from '@market/offers/bounties'
import { KEY_AGENT, KEY_POSTER, type OrderAct } from './bounty-acts.ts'
import {
  type AcceptanceStatus,
  AWAITED_MS,
  at,
  dueFor,
  GRACE_MS,
  MOST_KEPT,
  type ModelAcceptance,
  type ModelBounty,
  type ModelClaim,
  type ModelTransfer,
  maxOf,
  minOf,
  OPEN_MS,
  ORDER_STEPS,
  type OrderStatus,
  ownerName,
  posterName,
  REVIEW_MS,
  SKIPPED,
} from './bounty-model-state.ts'

/** What must become of bounties, claims and transfers. Each command returns the status or the code of its error. */
export class BountyModel {
  readonly bounties: ModelBounty[] = []
  readonly transfers: ModelTransfer[] = []
  readonly acceptances: ModelAcceptance[] = []
  readonly notified: string[] = []
  readonly emitted: string[] = []
  now: number

  constructor(now: number) {
    this.now = now
  }

  post(fields: Pick<ModelBounty, 'poster' | 'budget' | 'windowMs' | 'deadlineMs'>): string {
    const { now: createdAt } = this
    const expiresAt = createdAt + OPEN_MS
    this.bounties.push({ ...fields, createdAt, expiresAt, claims: [], status: 'open', order: undefined })
    return 'open'
  }

  claim(of: number, agent: number): string {
    const bounty = this.bountyAt(of)
    if (this.seenStatus(bounty) !== 'open' || this.now >= bounty.createdAt + OPEN_MS) return 'bounty_not_open'
    if (agent === KEY_AGENT && bounty.poster === KEY_POSTER) return 'own_bounty'
    if (bounty.claims.some((one) => one.agent === agent && this.isPending(bounty, one)))
      return 'already_claimed'
    this.expireDue(of)
    const expiresAt = minOf(this.now + bounty.windowMs, bounty.createdAt + OPEN_MS)
    bounty.claims.push({ agent, createdAt: this.now, status: 'pending', expiresAt })
    this.notify(posterName(bounty.poster), 'bounty.claimed', of, agent)
    return 'pending'
  }

  withdraw(of: number, agent: number): string {
    const bounty = this.bountyAt(of)
    const own = bounty.claims.filter((one) => one.agent === agent)
    const claim = own.find(({ status }) => status === 'pending' || status === 'accepted') ?? own.at(-1)
    if (claim === undefined) return 'claim_not_found'
    if (claim.status !== 'withdrawn' && !this.isPending(bounty, claim)) return 'claim_not_pending'
    this.expireDue(of)
    if (claim.status === 'withdrawn') return 'withdrawn'
    claim.status = 'withdrawn'
    this.notify(posterName(bounty.poster), 'bounty.claim_withdrawn', of, agent)
    return 'withdrawn'
  }

  cancel(of: number, by: number): string {
    const bounty = this.bountyAt(of)
    if (by !== bounty.poster) return 'not_your_bounty'
    if (this.seenStatus(bounty) !== 'open') return 'bounty_not_open'
    this.expireDue(of)
    for (const claim of bounty.claims) this.endClaim(of, claim, 'rejected', 'bounty.cancelled')
    bounty.status = 'cancelled'
    return 'cancelled'
  }

  accept(of: number, nth: number, transfer: number, by: number): string {
    const bounty = this.bountyAt(of)
    if (by !== bounty.poster) return 'not_your_bounty'
    const known = this.acceptances.find(
      (one) => one.bounty === of && one.transfer === transfer && one.status !== 'failed',
    )
    if (known?.status === 'refunded') return 'transfer_refunded'
    if (known !== undefined) return known.claim === nth ? known.status : 'transfer_used'
    const paid = this.transferAt(transfer)
    if (paid.isConfirmed && paid.payer !== by) return 'wrong_payer'
    if (paid.isConfirmed && paid.amount < dueFor(bounty.budget)) return 'underpaid'
    const name = (status: AcceptanceStatus) =>
      this.acceptances.push({ bounty: of, claim: nth, transfer, createdAt: this.now, status })
    if (bounty.status !== 'open') {
      if (by === KEY_POSTER) return 'bounty_not_open'
      if (paid.use !== 'unused') return 'transfer_used'
      name(paid.isConfirmed ? 'refunded' : 'waiting')
      if (paid.isConfirmed) this.refund(of, transfer)
      return 'bounty_not_open'
    }
    const claim = this.claimAt(bounty, nth)
    const heldUntil = minOf(claim.createdAt + bounty.windowMs, bounty.createdAt + OPEN_MS)
    if (claim.status !== 'pending' || this.now >= heldUntil) return 'claim_not_pending'
    if (paid.use !== 'unused') return 'transfer_used'
    name(paid.isConfirmed ? 'accepted' : 'waiting')
    if (paid.isConfirmed) {
      this.win(of, claim, transfer)
      return 'accepted'
    }
    claim.expiresAt = maxOf(claim.expiresAt, this.now + AWAITED_MS)
    bounty.expiresAt = maxOf(bounty.expiresAt, this.now + AWAITED_MS)
    return 'waiting'
  }

  /** Undefined when the model does not have the action. */
  actOnOrder(of: number, action: OrderAct): string | undefined {
    this.sweepOrders()
    const bounty = this.bountyAt(of)
    if (bounty.order === undefined || SKIPPED.includes(`${bounty.order.status} ${action}`)) return undefined
    const to = ORDER_STEPS[bounty.order.status][action]
    if (to === undefined) return 'illegal_transition'
    this.saveOrder(bounty, to)
    return to
  }

  confirm(transfer: number): void {
    this.transferAt(transfer).isConfirmed = true
    this.settle()
  }

  /** What the worker does in a round. */
  sweep(): void {
    this.settle()
    for (const of of this.bounties.keys()) this.expireDue(of)
    this.sweepOrders()
  }

  /** Times at which a claim, a bounty or a wait ends. */
  deadlines(): number[] {
    const all = this.bounties.flatMap(({ createdAt, expiresAt, windowMs, claims }) => [
      createdAt + OPEN_MS,
      expiresAt,
      ...claims.flatMap((claim) => [claim.createdAt + windowMs, claim.expiresAt]),
    ])
    const waits = this.acceptances.map(({ createdAt }) => createdAt + AWAITED_MS)
    return [...new Set([...all, ...waits])].filter((at) => at > this.now).toSorted((a, b) => a - b)
  }

  /** What is returned because it is above what was due. */
  surplusOf(payer: number): bigint {
    const won = this.acceptances.filter(({ status }) => status === 'accepted')
    return won.reduce((sum, { bounty, transfer }) => {
      const paid = this.transferAt(transfer)
      const more = paid.amount - dueFor(this.bountyAt(bounty).budget)
      return paid.payer === payer && more > MOST_KEPT ? sum + more : sum
    }, 0n)
  }

  bountyAt(of: number): ModelBounty {
    return at(this.bounties, of)
  }

  transferAt(of: number): ModelTransfer {
    return at(this.transfers, of)
  }

  private claimAt({ claims }: ModelBounty, of: number): ModelClaim {
    return at(claims, of)
  }

  private isOver(bounty: ModelBounty): boolean {
    return bounty.status === 'open' && bounty.expiresAt <= this.now
  }

  /** As a command sees it, before a sweep has saved it. */
  private seenStatus(bounty: ModelBounty): BountyStatus {
    return this.isOver(bounty) ? 'expired' : bounty.status
  }

  private isPending(bounty: ModelBounty, { status, expiresAt }: ModelClaim): boolean {
    return status === 'pending' && !this.isOver(bounty) && this.now < expiresAt
  }

  private expireDue(of: number): void {
    const bounty = this.bountyAt(of)
    const isOver = this.isOver(bounty)
    for (const claim of bounty.claims)
      if (isOver || claim.expiresAt <= this.now) this.endClaim(of, claim, 'expired', 'bounty.claim_expired')
    if (!isOver) return
    bounty.status = 'expired'
    this.notify(posterName(bounty.poster), 'bounty.expired', of)
  }

  private endClaim(of: number, claim: ModelClaim, status: ClaimStatus, kind: string): void {
    if (claim.status !== 'pending') return
    claim.status = status
    this.notify(ownerName(claim.agent), kind, of)
  }

  private win(of: number, won: ModelClaim, transfer: number): void {
    const bounty = this.bountyAt(of)
    this.endClaim(of, won, 'accepted', 'bounty.accepted')
    this.emitted.push(`agent ${won.agent} bounty.accepted ${of}`)
    for (const claim of bounty.claims.filter(({ status }) => status === 'pending')) {
      const isExpired = claim.expiresAt <= this.now
      if (!isExpired) this.emitted.push(`agent ${claim.agent} bounty.claim_rejected ${of}`)
      if (isExpired) this.endClaim(of, claim, 'expired', 'bounty.claim_expired')
      else this.endClaim(of, claim, 'rejected', 'bounty.claim_rejected')
    }
    bounty.status = 'claimed'
    bounty.order = { status: 'paid', dueAt: this.now + bounty.deadlineMs + GRACE_MS }
    this.transferAt(transfer).use = 'order'
  }

  private refund(of: number, transfer: number): void {
    this.transferAt(transfer).use = 'bounty'
    this.notify(posterName(this.bountyAt(of).poster), 'bounty.transfer_refunded', of)
  }

  /** Decides about each named transfer that is confirmed, or was not within an hour. */
  private settle(): void {
    for (const acceptance of this.acceptances.filter(({ status }) => status === 'waiting')) {
      const { bounty: of, claim, transfer, createdAt } = acceptance
      const { isConfirmed } = this.transferAt(transfer)
      if (!isConfirmed && this.now <= createdAt + AWAITED_MS) continue
      acceptance.status = isConfirmed ? this.outcomeOf(acceptance) : 'failed'
      const bounty = this.bountyAt(of)
      if (acceptance.status === 'failed') this.notify(posterName(bounty.poster), 'bounty.payment_failed', of)
      if (acceptance.status === 'refunded') this.refund(of, transfer)
      if (acceptance.status === 'accepted') this.win(of, this.claimAt(bounty, claim), transfer)
    }
  }

  private outcomeOf({ bounty: of, claim, transfer }: ModelAcceptance): AcceptanceStatus {
    const [bounty, paid] = [this.bountyAt(of), this.transferAt(transfer)]
    if (paid.payer !== bounty.poster || paid.amount < dueFor(bounty.budget)) return 'failed'
    if (bounty.status !== 'open') return bounty.poster === KEY_POSTER ? 'failed' : 'refunded'
    return this.claimAt(bounty, claim).status === 'pending' ? 'accepted' : 'failed'
  }

  private sweepOrders(): void {
    for (const bounty of this.bounties) {
      const { order } = bounty
      if (order === undefined || order.dueAt === null || order.dueAt > this.now) continue
      this.saveOrder(bounty, order.status === 'paid' ? 'cancelled' : 'completed')
    }
  }

  private saveOrder(bounty: ModelBounty, status: OrderStatus): void {
    bounty.order = { status, dueAt: status === 'delivered' ? this.now + REVIEW_MS : null }
    if (status === 'completed' || status === 'cancelled') bounty.status = status
  }

  /** A repeated notification about the same agent replaces the unread one. */
  private notify(recipient: string, kind: string, of: number, about?: number): void {
    const line = `${recipient} ${kind} ${of}${about === undefined ? '' : ` ${ownerName(about)}`}`
    if (about === undefined || !this.notified.includes(line)) this.notified.push(line)
  }
}
