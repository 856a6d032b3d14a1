import type { SolanaSigner } from '@market/testing/solana-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { signed } from './makers.ts'

type Proof = Awaited<ReturnType<typeof signed>>

/** Signatures with one error each, and the expected error code. */
export async function badSignatures(
  signer: SolanaSigner,
  purpose: string,
  now: number,
): Promise<readonly (readonly [code: string, proof: Proof])[]> {
  const otherWallet = await signed(await solanaSigner(), purpose, now)
  return [
    ['signature_expired', await signed(signer, purpose, now - 301_000)],
    ['signature_from_future', await signed(signer, purpose, now + 90_000)],
    ['bad_signature', await signed(signer, `${purpose}:other`, now)],
    ['bad_signature', { ...otherWallet, wallet: signer.address }],
    ['bad_signature', { ...(await signed(signer, purpose, now)), wallet_sig_ts: now + 1 }],
  ]
}
