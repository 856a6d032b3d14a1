import type { Venue, VenueStep } from '@market/core/ports/venue'

/** What a process that died would never do: everything after this promise. */
const dead = (): Promise<never> => new Promise(() => {})

/** Where a worker dies. What it did before has reached the chain or the database. */
export type CrashPoint =
  | { readonly at: 'before it signs' | 'signed, not stored' | 'stored, not sent'; readonly step: VenueStep }
  | { readonly at: 'sent, not known' | 'final, not recorded'; readonly step: VenueStep }
  | { readonly at: 'funded, not recorded' | 'asked, not begun' | 'receipt read, not recorded' }

/** The venue of a worker that dies at a point. */
export function dyingVenue(real: Venue, point: CrashPoint, died: () => void): Venue {
  const steps = new Map<string, VenueStep>()
  const dieIf = (at: CrashPoint['at'], step?: VenueStep): Promise<void> | undefined => {
    const isHere = point.at === at && (!('step' in point) || point.step === step)
    if (!isHere) return undefined
    died()
    return dead()
  }
  return {
    ...real,
    async sign(call, nonce, previous) {
      await dieIf('before it signs', call.step)
      const signed = await real.sign(call, nonce, previous)
      steps.set(signed.reference, call.step)
      await dieIf('signed, not stored', call.step)
      return signed
    },
    async send(signed) {
      await dieIf('stored, not sent', steps.get(signed.reference))
      await real.send(signed)
      await dieIf('sent, not known', steps.get(signed.reference))
    },
    async observe(signed) {
      const outcome = await real.observe(signed)
      if (outcome.kind === 'final') await dieIf('final, not recorded', steps.get(outcome.reference))
      return outcome
    },
    async depositProblem(amount) {
      const problem = await real.depositProblem(amount)
      await dieIf('funded, not recorded')
      return problem
    },
    async redeemable(shares) {
      const redeemable = await real.redeemable(shares)
      await dieIf('asked, not begun')
      return redeemable
    },
    async receiptOf(reference) {
      const receipt = await real.receiptOf(reference)
      await dieIf('receipt read, not recorded')
      return receipt
    },
  }
}
