import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface TestCertificates {
  /** The authority that signs the certificates of this process. */
  readonly ca: string
  readonly key: string
  readonly cert: string
}

const run = promisify(execFile)
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

const CONFIG = `
[req]
distinguished_name = subject
prompt = no
[subject]
CN = Test certificates
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
`

const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'test-certificates-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const makeAuthority = (): Promise<{ key: string; cert: string }> =>
  inFolder(async (cwd) => {
    await writeFile(join(cwd, 'config'), CONFIG)
    const shape = ['-config', 'config', '-extensions', 'authority', '-days', '2']
    await run('openssl', ['req', '-x509', ...NEW_KEY, ...shape, '-keyout', 'key', '-out', 'cert'], { cwd })
    return { key: await readFile(join(cwd, 'key'), 'utf8'), cert: await readFile(join(cwd, 'cert'), 'utf8') }
  })

let authority: ReturnType<typeof makeAuthority> | undefined

const makeCertificate = (names: readonly string[]): Promise<TestCertificates> =>
  inFolder(async (cwd) => {
    authority ??= makeAuthority()
    const { key: caKey, cert: ca } = await authority
    const alternatives = names.map((name) => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`).join(',')
    await Promise.all([
      writeFile(join(cwd, 'config'), CONFIG),
      writeFile(join(cwd, 'ca-key'), caKey),
      writeFile(join(cwd, 'ca'), ca),
      writeFile(join(cwd, 'extensions'), `subjectAltName = ${alternatives}\n`),
    ])
    const asked = ['-config', 'config', '-subj', '/CN=Test server', '-keyout', 'key', '-out', 'request']
    await run('openssl', ['req', '-new', ...NEW_KEY, ...asked], { cwd })
    const signer = [
      '-CA',
      'ca',
      '-CAkey',
      'ca-key',
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      'extensions',
    ]
    await run('openssl', ['x509', '-req', '-in', 'request', ...signer, '-out', 'cert'], { cwd })
    return {
      ca,
      key: await readFile(join(cwd, 'key'), 'utf8'),
      cert: await readFile(join(cwd, 'cert'), 'utf8'),
    }
  })

const made = new Map<string, Promise<TestCertificates>>()

/** A certificate for these names or addresses, created once per process. */
export const testCertificates = (names: readonly string[] = ['localhost']): Promise<TestCertificates> => {
  const wanted = names.toSorted().join(',')
  const certificates = made.get(wanted) ?? makeCertificate(names)
  made.set(wanted, certificates)
  return certificates
}
