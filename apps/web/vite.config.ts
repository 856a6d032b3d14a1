import { cpSync, globSync, mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TOKENS } from '@market/style/tokens'
import { defineConfig, type Plugin } from 'vite'
import { noticeOf } from '../../scripts/notice.ts'

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Puts the tokens that all pages share into the stylesheet. */
const tokens: Plugin = {
  name: 'tokens',
  enforce: 'pre',
  // A page of the development server links the file itself: `market.css?direct`.
  transform: (code, id) =>
    /\/market\.css(\?|$)/.test(id) ? code.replace(':tokens {}', () => TOKENS) : undefined,
}

const EVERY_PAGE = /node_modules\/(react|react-dom|scheduler|@tanstack)\//

const FONTS = 'geist-{latin,latin-ext,cyrillic,vietnamese}-{400,600}-normal.woff'

/** Copies what the thread of the pictures reads at run time. */
const pictureFiles: Plugin = {
  name: 'picture-files',
  closeBundle: () => {
    const folder = path('dist/server/pictures')
    mkdirSync(folder, { recursive: true })
    cpSync(fileURLToPath(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm')), join(folder, 'resvg.wasm'))
    const fonts = join(dirname(fileURLToPath(import.meta.resolve('@fontsource/geist'))), 'files')
    for (const file of globSync(FONTS, { cwd: fonts }))
      cpSync(join(fonts, file), join(folder, basename(file)))
  },
}

/** Whose files the stylesheets and the pictures name. */
const FONT_PACKAGES = ['@fontsource-variable/geist', '@fontsource-variable/geist-mono', '@fontsource/geist']

/** The licences of what is bundled, as /NOTICE.txt. */
const notice: Plugin = {
  name: 'notice',
  generateBundle(_options, written) {
    const bundled = Object.values(written).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    const source = noticeOf([
      ...bundled,
      ...FONT_PACKAGES.map((name) => fileURLToPath(import.meta.resolve(name))),
    ])
    this.emitFile({ type: 'asset', fileName: 'NOTICE.txt', source })
  },
}

/** Two builds: what the browser loads, and what the server renders pages with. */
export default defineConfig(({ command, isSsrBuild }) => ({
  root: path('src/app'),
  publicDir: path('public'),
  appType: 'custom',
  plugins: [tokens, notice, ...(isSsrBuild ? [pictureFiles] : [])],
  build: {
    outDir: path(isSsrBuild ? 'dist/server' : 'dist/client'),
    emptyOutDir: true,
    manifest: isSsrBuild ? false : 'manifest.json',
    // No inline data: fonts and pictures are files, which the policy allows by their origin.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: isSsrBuild
        ? {
            'entry-server': path('src/app/entry-server.tsx'),
            'picture-worker': path('src/pictures/worker.ts'),
          }
        : path('src/app/entry-client.tsx'),
      // One file of the libraries that every page needs: small ones compress worse.
      ...(!isSsrBuild && {
        output: { codeSplitting: { groups: [{ name: 'libraries', test: EVERY_PAGE }] } },
      }),
      // Libraries mark modules with "use client", which means nothing here.
      onLog: (level, log, handle) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && handle(level, log),
    },
  },
  // The build has everything; from the sources, packages are loaded by Node.
  ssr: { noExternal: command === 'build' || [] },
}))
