import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  CLIENT_HEADER,
  type ClientName,
  OLDEST_CLIENTS,
  OLDEST_HEADER,
  oldestFor,
} from '@market/contract/client-versions'
import { ApiError } from '@market/kernel/api-error'
import type { FastifyInstance, FastifyReply } from 'fastify'

/**
 * The clients of this marketplace, as packages that npm installs from its address: so client and API always fit, and no name in a
 * registry decides what a user gets.
 */

interface Packed {
  readonly name: ClientName
  readonly version: string
  readonly file: string
  readonly size: number
  readonly integrity: string
}

/** A file name has the version, and the version names the contents. */
const FOREVER = 'public, max-age=31536000, immutable'
const SOON = 'public, max-age=300'

/** `dist` has the packages beside `bin`; a checkout has what was built last. */
const FOLDERS = [
  join(import.meta.dirname, '../packages'),
  join(import.meta.dirname, '../../../dist/packages'),
]

/** Tells a client that is too old, with every response. */
export function tellOldClients(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers }, reply) => {
    const client = headers[CLIENT_HEADER.toLowerCase()]
    const oldest = typeof client === 'string' ? oldestFor(client) : undefined
    if (oldest !== undefined) reply.header(OLDEST_HEADER, oldest)
  })
}

/** Serves the list of packages, each package, and a redirection to the one of this build. */
export function mountClientPackages(
  app: FastifyInstance,
  baseUrl: string,
  folders: readonly string[] = FOLDERS,
): void {
  const addressOf = (file: string) => `${baseUrl}/packages/${file}`
  const files = new Map<string, Buffer>()

  app.get('/packages', async (_request, reply) => {
    const { packed } = readPackages(folders)
    const data = packed.map(({ name, version, file, size, integrity }) => ({
      name: `@market/${name}`,
      ...{ version, oldest_supported: OLDEST_CLIENTS[name], size, integrity },
      ...{ url: addressOf(file), latest_url: addressOf(`${name}.tgz`) },
    }))
    return reply.header('Cache-Control', SOON).send({ success: true, data })
  })

  app.get<{ Params: { file: string } }>('/packages/:file', async ({ params }, reply) => {
    const { folder, packed } = readPackages(folders)
    const newest = packed.find(({ name }) => `${name}.tgz` === params.file)
    if (newest !== undefined)
      return reply.header('Cache-Control', SOON).redirect(`/packages/${newest.file}`, 302)
    const found = packed.find(({ file }) => file === params.file)
    if (found === undefined) throw notServed(params.file, packed)
    const bytes = files.get(found.file) ?? readFileSync(join(folder, found.file))
    files.set(found.file, bytes)
    return sendPackage(reply, found, bytes)
  })
}

const sendPackage = (reply: FastifyReply, { integrity }: Packed, bytes: Buffer) =>
  reply.header('Cache-Control', FOREVER).header('ETag', `"${integrity}"`).type('application/gzip').send(bytes)

/** Read at each request of a list: a checkout is built while the api runs. */
function readPackages(folders: readonly string[]): {
  readonly folder: string
  readonly packed: readonly Packed[]
} {
  const folder = folders.find((one) => existsSync(join(one, 'packages.json')))
  if (folder === undefined)
    throw new ApiError(
      'unavailable',
      'This server has no packages of its clients. Build them with npm run pack:clients, and try again.',
    )
  return { folder, packed: JSON.parse(readFileSync(join(folder, 'packages.json'), 'utf8')) as Packed[] }
}

const notServed = (file: string, packed: readonly Packed[]): ApiError =>
  new ApiError(
    'not_found',
    `There is no package ${file}. Install ${packed.map(({ name }) => `${name}.tgz`).join(', ')}, or see GET /packages for what this server has.`,
  )
