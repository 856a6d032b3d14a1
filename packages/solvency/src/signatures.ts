import { secp256k1 } from '@noble/curves/secp256k1'
import { keccak_256 } from '@noble/hashes/sha3'
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils'
import type { Anchors } from './anchors.ts'
import { isSolana, spelled } from './chain-reads.ts'
import { outcome, type ReserveCheck } from './check.ts'
import { textProblem } from './check-anchor.ts'
import type { NetworkSolvency, ReserveAnchor } from './merkle-proof.ts'

const SIGNATURE = /^0x([0-9a-f]{128})(1b|1c)$/

/** The address in lower case whose key signed a text (EIP-191, `personal_sign`); undefined when the signature is malformed. */
export function signerOf(text: string, signature: string): string | undefined {
  const [, rs, v] = SIGNATURE.exec(signature) ?? []
  if (rs === undefined) return undefined
  const message = utf8ToBytes(text)
  const prefix = utf8ToBytes(`\x19Ethereum Signed Message:\n${message.length}`)
  const hash = keccak_256(concatBytes(prefix, message))
  try {
    const recoverable = secp256k1.Signature.fromCompact(rs).addRecoveryBit(v === '1b' ? 0 : 1)
    const key = recoverable.recoverPublicKey(hash).toRawBytes(false)
    return `0x${bytesToHex(keccak_256(key.subarray(1)).subarray(12))}`
  } catch {
    return undefined
  }
}

type TreasurySignature = ReserveAnchor['signatures'][number]

/** Why a signature does not show that its treasury signed the roots of this day; undefined when it does. */
export function signatureProblem(
  anchor: ReserveAnchor,
  { network, treasury, signature }: TreasurySignature,
): string | undefined {
  if (anchor.signatures.filter((one) => one.network === network).length > 1)
    return 'the API lists several signatures of this network'
  if (!anchor.networks.some((one) => one.network === network))
    return `the network is not part of the anchor of ${anchor.day}`
  const wrong = textProblem(anchor)
  if (wrong !== undefined) return wrong
  const signer = signerOf(anchor.text, signature)
  if (signer === undefined) return 'the signature is malformed'
  return signer === spelled(network, treasury)
    ? undefined
    : `the signature is by ${signer}, not by the treasury ${treasury}: of another key, or over another text`
}

export interface SignatureChecks {
  readonly checks: readonly ReserveCheck[]
  /** The treasuries that signed the newest anchor, by network. */
  readonly signers: ReadonlyMap<string, string>
}

/** Checks every listed signature, and that each EVM treasury of the newest anchor signed it. */
export function checkSignatures(
  networks: readonly NetworkSolvency[],
  { listed, newest, isRequired }: Anchors,
  treasuries: Readonly<Record<string, string>>,
): SignatureChecks {
  const checks: ReserveCheck[] = []
  const signers = new Map<string, string>()
  for (const anchor of listed)
    for (const one of anchor.signatures) {
      const check = `signature ${anchor.day} ${one.network}`
      const current =
        treasuries[one.network] ?? networks.find(({ network }) => network === one.network)?.treasury
      const isOther =
        anchor === newest &&
        current !== undefined &&
        spelled(one.network, current) !== spelled(one.network, one.treasury)
      const problem =
        signatureProblem(anchor, one) ??
        (isOther ? `signed by ${one.treasury}, not by the treasury ${current}` : undefined)
      if (problem === undefined && anchor === newest)
        signers.set(one.network, spelled(one.network, one.treasury))
      if (problem !== undefined || anchor === newest)
        checks.push(outcome(check, problem, `signed by the treasury ${one.treasury}`))
    }
  if (newest === undefined || !isRequired) return { checks, signers }
  const unsigned = newest.networks.filter(
    ({ network }) => !isSolana(network) && !newest.signatures.some((one) => one.network === network),
  )
  for (const { network } of unsigned)
    checks.push({
      result: 'warning',
      check: `signature ${newest.day} ${network}`,
      detail: `not proven: the treasury has not signed the text of ${newest.day}`,
    })
  return { checks, signers }
}
