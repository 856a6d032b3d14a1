import { createHash } from 'node:crypto'
import {
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hashMessage,
  hexToBigInt,
  isHex,
  parseAbi,
  recoverMessageAddress,
  size,
  slice,
} from 'viem'
import { askChain, type ChainAccess } from './ask-chain.ts'
import { badSignature, malformedSignature } from './errors.ts'

const MIN_BYTES = 64
const MAX_BYTES = 8192
const KEY_SIGNATURE_BYTES = 65
/** Half the order of secp256k1. Above it, a signature is the mirror image anybody can make of a right one. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const COUNTERFACTUAL_SUFFIX = '6492'.repeat(16)
const ERC1271_YES = `0x1626ba7e${'0'.repeat(56)}`
const VALIDATOR_YES = '0x01'

const erc1271Abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])

const parseSignature = (text: string): Hex => {
  const expected = `an EVM wallet sends 0x and ${MIN_BYTES} to ${MAX_BYTES} bytes in hexadecimal`
  // The length is looked at first, so that a long text is not scanned.
  if (text.length > 2 + 2 * MAX_BYTES || text.length % 2 !== 0) throw malformedSignature(expected)
  if (!isHex(text, { strict: true }) || size(text) < MIN_BYTES) throw malformedSignature(expected)
  return text
}

/** The key that made the signature; undefined when it is no signature of a key (v other than 0, 1, 27, 28, or r, s out of range). */
const recoverSigner = async (text: string, signature: Hex): Promise<string | undefined> => {
  if (size(signature) !== KEY_SIGNATURE_BYTES) return undefined
  const key = createHash('sha256').update(signature).update(text).digest('base64')
  const known = recovered.get(key)
  if (known !== undefined) return known
  try {
    const signer = (await recoverMessageAddress({ message: text, signature })).toLowerCase()
    remember(key, signer)
    return signer
  } catch {
    return undefined
  }
}

// Recovering a key takes about 2 ms of CPU, and a client sends the same session signature with every request for
// minutes. The signer follows from text and signature alone, so that remembering it changes no decision: whether the
// signature is fresh and fits the request is checked every time.
const recovered = new Map<string, string>()
const MAX_RECOVERED = 10_000

function remember(key: string, signer: string): void {
  const [oldest] = recovered.size < MAX_RECOVERED ? [] : recovered.keys()
  if (oldest !== undefined) recovered.delete(oldest)
  recovered.set(key, signer)
}

export const isHighS = (signature: Hex): boolean => hexToBigInt(slice(signature, 32, 64)) > HALF_ORDER

/** A deployed wallet is asked directly (ERC-1271); one still to be deployed is first deployed in simulation (ERC-6492). */
const isSmartWalletSignature = async (
  access: ChainAccess,
  wallet: Hex,
  text: string,
  signature: Hex,
): Promise<boolean> => {
  const hash = hashMessage(text)
  if (signature.toLowerCase().endsWith(COUNTERFACTUAL_SUFFIX)) {
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [wallet, hash, signature],
    })
    return (await askChain(access, { data })) === VALIDATOR_YES
  }
  const data = encodeFunctionData({
    abi: erc1271Abi,
    functionName: 'isValidSignature',
    args: [hash, signature],
  })
  return (await askChain(access, { to: wallet, data })) === ERC1271_YES
}

/** Rejects unless the wallet signed the text. `wallet` is the lower-case address. */
export const verifyEvm = async (
  access: ChainAccess,
  wallet: Hex,
  text: string,
  signatureText: string,
): Promise<void> => {
  const signature = parseSignature(signatureText)
  if ((await recoverSigner(text, signature)) === wallet) {
    if (isHighS(signature)) throw badSignature()
    return
  }
  if (!(await isSmartWalletSignature(access, wallet, text, signature))) throw badSignature()
}
