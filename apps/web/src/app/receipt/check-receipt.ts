import type { Operations } from '@market/sdk'
import { ReceiptError, verifyReceipt } from '@market/sdk/receipts'

export type Receipt = Operations['getReceipt']['data']['receipt']

/** What this browser found out about a receipt. */
export type CheckedReceipt =
  | { readonly kind: 'valid'; readonly receipt: Receipt; readonly keyId: string }
  /** A byte was changed, or somebody else signed it. */
  | { readonly kind: 'invalid'; readonly problem: string }
  /** The keys could not be read, or the browser is too old for Ed25519. */
  | { readonly kind: 'unchecked'; readonly problem: string }

export const KEYS = '/.well-known/jwks.json'

/** Verifies the signature with the keys that the marketplace publishes. Nothing that the API says beside the text counts. */
export async function checkReceipt(jws: string, issuer: string): Promise<CheckedReceipt> {
  try {
    const receipt = await verifyReceipt(jws, { keys: await readKeys(), issuer })
    return { kind: 'valid', receipt, keyId: keyIdOf(jws) }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { kind: error instanceof ReceiptError ? 'invalid' : 'unchecked', problem }
  }
}

async function readKeys(): Promise<readonly unknown[]> {
  const response = await fetch(KEYS)
  if (!response.ok) throw new Error(`${KEYS} sent status ${response.status}.`)
  const { keys } = (await response.json()) as { readonly keys?: unknown }
  if (!Array.isArray(keys)) throw new Error(`${KEYS} has no list of keys.`)
  return keys
}

/** Of a text that was verified. */
function keyIdOf(jws: string): string {
  const head = (jws.split('.')[0] ?? '').replaceAll('-', '+').replaceAll('_', '/')
  return String((JSON.parse(atob(head)) as { readonly kid?: unknown }).kid)
}
