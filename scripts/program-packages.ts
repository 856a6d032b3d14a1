export interface LockEntry {
  readonly version?: string
  readonly link?: boolean
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

export type LockPackages = Readonly<Record<string, LockEntry>>

/** Resolves like Node: in the package's own node_modules, then in those of the folders above it. */
function resolvePackage(packages: LockPackages, from: string, name: string): string | undefined {
  for (let folder = from; ; ) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (path in packages) return path
    if (folder === '') return undefined
    const above = folder.lastIndexOf('node_modules/')
    folder = above > 0 ? folder.slice(0, above - 1) : ''
  }
}

/** Every package that the programs at these paths need at run time, as `name@version`. */
export function programPackages(packages: LockPackages, programs: readonly string[]): Set<string> {
  const seen = new Set<string>()
  const visit = (path: string): void => {
    const entry = packages[path]
    if (entry === undefined || seen.has(path)) return
    seen.add(path)
    const next =
      entry.link === true
        ? [entry.resolved]
        : neededBy(entry).map((name) => resolvePackage(packages, path, name))
    for (const one of next) visit(one ?? '')
  }
  for (const program of programs) visit(program)
  const external = [...seen].filter((path) => path.includes('node_modules/') && packages[path]?.link !== true)
  return new Set(external.map((path) => `${nameOf(path)}@${packages[path]?.version}`))
}

const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

const neededBy = (entry: LockEntry): string[] => [
  ...Object.keys(entry.dependencies ?? {}),
  ...Object.keys(entry.optionalDependencies ?? {}),
  ...Object.keys(entry.peerDependencies ?? {}).filter(
    (name) => entry.peerDependenciesMeta?.[name]?.optional !== true,
  ),
]
