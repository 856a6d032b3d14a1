/** The files of the build that a page loads. */
export interface Assets {
  readonly script: string
  readonly styles: readonly string[]
  /** What the script imports at once. */
  readonly modules: readonly string[]
  readonly fonts: readonly string[]
}

/** What the operator of a marketplace writes; undefined where nothing is configured. */
export interface OperatorTexts {
  readonly terms?: string
  readonly privacy?: string
}

/** What the settings say to every page. */
export interface SiteSettings {
  /** The public origin, which pages show and link. */
  readonly site: string
  /** A Solana node that browsers may ask about anchors. */
  readonly solanaNode: string | undefined
  readonly operator: OperatorTexts
}

export interface PageRequest extends SiteSettings {
  /** Path and query of the page. */
  readonly path: string
  readonly apiUrl: string
  readonly fetch: typeof fetch
  readonly assets: Assets
}

export interface RenderedPage {
  readonly status: number
  readonly html: string
  /** What the page is drawn from, without the time. Undefined: `html`. */
  readonly content?: string
  /** Whether everything on it could be read. */
  readonly isComplete: boolean
}

/** The build of the pages exports it. */
export type RenderPage = (request: PageRequest) => Promise<RenderedPage>
