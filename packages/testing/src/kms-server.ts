import { generateKeyPairSync, type KeyObject, randomUUID, sign as signBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toHex } from 'viem'
import { sign as signDigest } from 'viem/accounts'
import { CLIENTS_CLOSE } from './idle-connections.ts'

export type KmsKeySpec = 'ECC_SECG_P256K1' | 'ECC_NIST_EDWARDS25519'

export interface KmsFaults {
  /** Every call returns 500. */
  readonly down: boolean
  /** Calls are accepted but not answered. */
  readonly silent: boolean
  /** Returns ECDSA signatures with high s, as a real KMS does in half of the cases. */
  readonly highS: boolean
  /** Signs with a key other than the returned public key. */
  readonly otherKey: boolean
}

export interface KmsServer {
  readonly endpoint: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
  createKey(spec: KmsKeySpec): string
  set(faults: Partial<KmsFaults>): void
  /** The calls in order, by their names. */
  readonly calls: readonly string[]
  stop(): Promise<void>
}

interface Key {
  readonly spec: KmsKeySpec
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

interface Question {
  readonly KeyId?: string
  readonly Message?: string
  readonly MessageType?: string
  readonly SigningAlgorithm?: string
}

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const ALGORITHMS = { ECC_SECG_P256K1: 'ECDSA_SHA_256', ECC_NIST_EDWARDS25519: 'ED25519_SHA_512' } as const
const FINE: KmsFaults = { down: false, silent: false, highS: false, otherKey: false }

/** An error response of the protocol. */
class KmsError extends Error {
  readonly type: string
  constructor(type: string, message: string) {
    super(message)
    this.type = type
  }
}

const generate = (spec: KmsKeySpec): Key =>
  spec === 'ECC_SECG_P256K1'
    ? { spec, ...generateKeyPairSync('ec', { namedCurve: 'secp256k1' }) }
    : { spec, ...generateKeyPairSync('ed25519') }

const derInteger = (value: bigint): Buffer => {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  // A set first bit would make the number negative.
  const positive = (bytes[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.of(0), bytes]) : bytes
  return Buffer.concat([Buffer.of(0x02, positive.length), positive])
}

/** Node's sign() hashes its input, but the KMS gets a hash, so another library signs. */
const signEcdsa = async ({ privateKey }: Key, digest: Buffer, highS: boolean): Promise<Buffer> => {
  if (digest.length !== 32) throw new KmsError('ValidationException', 'Digest is invalid length')
  const secret = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url')
  const low = await signDigest({ hash: toHex(digest), privateKey: toHex(secret) })
  const s = highS ? N - BigInt(low.s) : BigInt(low.s)
  const body = Buffer.concat([derInteger(BigInt(low.r)), derInteger(s)])
  return Buffer.concat([Buffer.of(0x30, body.length), body])
}

const sign = async (key: Key, question: Question, highS: boolean): Promise<Buffer> => {
  const message = Buffer.from(question.Message ?? '', 'base64')
  const type = key.spec === 'ECC_SECG_P256K1' ? 'DIGEST' : 'RAW'
  if (question.SigningAlgorithm !== ALGORITHMS[key.spec] || question.MessageType !== type) {
    throw new KmsError('InvalidKeyUsageException', 'This key does not sign in this way')
  }
  return type === 'DIGEST' ? signEcdsa(key, message, highS) : signBytes(null, message, key.privateKey)
}

/** Two operations of AWS KMS, with real keys. */
export const startKmsServer = async (): Promise<KmsServer> => {
  const keys = new Map<string, Key>()
  const calls: string[] = []
  const credentials = { accessKeyId: `AKIA${randomUUID().slice(0, 8)}`, secretAccessKey: randomUUID() }
  let faults = FINE

  const answer = async (target: string, question: Question): Promise<unknown> => {
    const key = keys.get(question.KeyId ?? '')
    if (key === undefined) throw new KmsError('NotFoundException', `Key ${question.KeyId} does not exist`)
    const about = { KeyId: question.KeyId }
    if (target === 'TrentService.GetPublicKey') {
      const spki = key.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
      const algorithms = [ALGORITHMS[key.spec]]
      return {
        ...about,
        PublicKey: spki,
        KeySpec: key.spec,
        KeyUsage: 'SIGN_VERIFY',
        SigningAlgorithms: algorithms,
      }
    }
    if (target !== 'TrentService.Sign') throw new KmsError('UnknownOperationException', target)
    const signature = await sign(faults.otherKey ? generate(key.spec) : key, question, faults.highS)
    return { ...about, Signature: signature.toString('base64'), SigningAlgorithm: question.SigningAlgorithm }
  }

  const server = createServer(CLIENTS_CLOSE, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const target = String(request.headers['x-amz-target'])
    calls.push(target.replace('TrentService.', ''))
    if (faults.silent) return
    const reply = (status: number, json: unknown) =>
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(json))
    try {
      if (faults.down) throw new KmsError('KMSInternalException', 'down')
      if (request.headers.authorization?.includes(`Credential=${credentials.accessKeyId}/`) !== true) {
        throw new KmsError('UnrecognizedClientException', 'The security token is invalid')
      }
      reply(200, await answer(target, JSON.parse(body) as Question))
    } catch (failure) {
      const type = failure instanceof KmsError ? failure.type : 'KMSInternalException'
      reply(type === 'KMSInternalException' ? 500 : 400, { __type: type, message: String(failure) })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    credentials,
    calls,
    createKey(spec) {
      const id = randomUUID()
      keys.set(id, generate(spec))
      return id
    },
    set(some) {
      faults = { ...faults, ...some }
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
