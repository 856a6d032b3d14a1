export { listPortfolio, newestPortfolio } from './list-portfolio.ts'
export type { PortfolioEntry } from './portfolio.ts'
export { updatePortfolio } from './update-portfolio.ts'
