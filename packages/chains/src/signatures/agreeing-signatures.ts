import type { Signatures, WalletEvidence } from '@market/core/ports/signatures'
import { ApiError, unavailable } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'

const isUnavailable = (failure: unknown): boolean =>
  failure instanceof ApiError && failure.kind === 'unavailable'

/**
 * Accepts the signature of a smart wallet only when as many providers as required confirm it and none rejects it, so that
 * no single node decides who owns a wallet. A key signature is verified without a node and needs no agreement.
 */
export const agreeingSignatures = (perProvider: readonly Signatures[], required: number): Signatures => {
  const [first] = perProvider
  assert(first !== undefined && required > 0, 'signatures are verified by at least one provider')
  return {
    ...first,
    async verify(proof, purpose, now): Promise<WalletEvidence> {
      const results = await Promise.allSettled(
        perProvider.map((signatures) => signatures.verify(proof, purpose, now)),
      )
      const failures = results.flatMap((result) =>
        result.status === 'rejected' ? [result.reason as unknown] : [],
      )
      const rejection = failures.find((failure) => !isUnavailable(failure))
      if (rejection !== undefined) throw rejection
      const confirmed = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      const [evidence] = confirmed
      if (evidence !== undefined && (evidence === 'key' || confirmed.length >= required)) return evidence
      throw unavailable(
        `${confirmed.length} of ${required} required providers confirm this smart wallet signature. Try again later.`,
        failures.length === 0 ? undefined : new AggregateError(failures, 'too few EVM providers responded'),
      )
    },
  }
}
