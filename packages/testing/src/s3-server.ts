import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CLIENTS_CLOSE } from './idle-connections.ts'

export interface S3Server {
  /** The settings of programs that store files here. */
  readonly settings: Readonly<Record<'S3_ENDPOINT' | 'S3_BUCKET' | S3Credential, string>>
  /** The keys of all objects. */
  keys(): string[]
  /** Uploads in parts that were neither completed nor aborted. */
  openUploads(): number
  /** Bytes of all requests so far, with their headers. */
  received(): number
  /** Holds back every response until it is turned off. */
  setSilent(silent: boolean): void
  /** Ends every connection and accepts no new ones, as a killed process does. */
  kill(): Promise<void>
  /** Listens again on the same port, with the same objects. */
  restart(): Promise<void>
  stop(): Promise<void>
}

type S3Credential = 'S3_ACCESS_KEY_ID' | 'S3_SECRET_ACCESS_KEY'

/** The package has no types. */
const require = createRequire(import.meta.url)
const S3rver = require('@20minutes/s3rver') as new (settings: {
  readonly directory: string
  readonly silent: boolean
  readonly configureBuckets: readonly { readonly name: string }[]
}) => { configureBuckets(): Promise<unknown>; callback(): RequestListener }

const BUCKET = 'market-files'
/** The only credentials that the server knows. */
const KEY = 'S3RVER'

/** Starts a server with the S3 API on a free loopback port. It stores objects in a temporary folder. */
export async function startS3Server(): Promise<S3Server> {
  const folder = mkdtempSync(join(tmpdir(), 'market-s3-'))
  const s3 = new S3rver({ directory: folder, silent: true, configureBuckets: [{ name: BUCKET }] })
  await s3.configureBuckets()
  const answer = s3.callback()
  const uploadsFolder = join(folder, BUCKET, '._S3rver_uploads')

  let receivedBefore = 0
  let silent = false
  const held: (() => void)[] = []
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const upload = abortedUpload(request)
    const respond = () => {
      if (upload === undefined) return void answer(request, response)
      rmSync(join(uploadsFolder, upload), { recursive: true, force: true })
      response.writeHead(204).end()
    }
    if (silent) held.push(respond)
    else respond()
  }

  const open = new Set<Socket>()
  const listen = async (port: number) => {
    const server = createServer(CLIENTS_CLOSE, handle)
    server.on('connection', (socket) => {
      open.add(socket)
      socket.once('close', () => {
        open.delete(socket)
        receivedBefore += socket.bytesRead
      })
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  let server = await listen(0)
  const { port } = server.address() as AddressInfo

  const kill = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of open) socket.resetAndDestroy()
    await closed
  }
  return {
    settings: {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: BUCKET,
      S3_ACCESS_KEY_ID: KEY,
      S3_SECRET_ACCESS_KEY: KEY,
    },
    keys: () => objectsIn(join(folder, BUCKET)),
    openUploads: () => (existsSync(uploadsFolder) ? readdirSync(uploadsFolder).length : 0),
    received: () => [...open].reduce((sum, { bytesRead }) => sum + bytesRead, receivedBefore),
    setSilent(next) {
      silent = next
      if (!silent) for (const respond of held.splice(0)) respond()
    },
    kill,
    async restart() {
      await kill()
      server = await listen(port)
    },
    async stop() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The server does not implement AbortMultipartUpload. */
function abortedUpload({ method, url = '' }: IncomingMessage): string | undefined {
  if (method !== 'DELETE') return undefined
  return new URL(url, 'http://localhost').searchParams.get('uploadId')?.replace(/[^0-9a-z]/gi, '')
}

/** Each object is a file with this ending; others hold what belongs to it. */
const OBJECT = '._S3rver_object'

const objectsIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(OBJECT))
    .map((path) => path.slice(0, -OBJECT.length))
    .toSorted()
