import type { SolanaSigner } from '@market/testing/solana-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { signed } from './makers.ts'

type Proof = Awaited<ReturnType<typeof signed>>

/** Proofs that are right in all points but one, each with the word it is rejected by. */
export async function badSignatures(
  signer: SolanaSigner,
  purpose: string,
  now: number,
): Promise<readonly (readonly [code: string, proof: Proof])[]> {
  const stranger = await signed(await solanaSigner(), purpose, now)
  return [
    ['signature_expired', await signed(signer, purpose, now - 301_000)],
    ['signature_from_future', await signed(signer, purpose, now + 90_000)],
    ['bad_signature', await signed(signer, `${purpose}.other`, now)],
    ['bad_signature', { ...stranger, wallet: signer.address }],
    ['bad_signature', { ...(await signed(signer, purpose, now)), wallet_sig_ts: now + 1 }],
  ]
}
