// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/interfaces/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// A vault of USDC whose shares have 12 decimals. Anybody may pause deposits.
abstract contract Vault is ERC4626 {
    bool public paused;

    constructor(IERC20 a, string memory n) ERC20(n, n) ERC4626(a) {}

    function _decimalsOffset() internal pure override returns (uint8) {
        return 6;
    }

    function pause(bool p) external {
        paused = p;
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal virtual override {
        require(!paused, "paused");
        super._deposit(caller, receiver, assets, shares);
    }

    function liquidity() public view virtual returns (uint256) {
        return IERC20(asset()).balanceOf(address(this));
    }

    function maxWithdraw(address o) public view virtual override returns (uint256) {
        return Math.min(super.maxWithdraw(o), liquidity());
    }

    function maxRedeem(address o) public view virtual override returns (uint256) {
        return Math.min(super.maxRedeem(o), convertToShares(liquidity()));
    }
}

/// Lends its USDC, so that only what is not lent can be withdrawn.
contract LendingVault is Vault {
    using SafeERC20 for IERC20;

    uint256 public borrowed;

    constructor(IERC20 a) Vault(a, "lending") {}

    function totalAssets() public view override returns (uint256) {
        return super.totalAssets() + borrowed;
    }

    function borrow(uint256 a) external {
        borrowed += a;
        IERC20(asset()).safeTransfer(msg.sender, a);
    }

    function repay(uint256 principal, uint256 interest) external {
        borrowed -= principal;
        IERC20(asset()).safeTransferFrom(msg.sender, address(this), principal + interest);
    }

    function badDebt(uint256 a) external {
        borrowed -= a;
    }
}

/// The counterparty of traders. What their positions use cannot be withdrawn, and max* do not say so.
contract LiquidityVault is Vault {
    using SafeERC20 for IERC20;

    uint256 public used;

    constructor(IERC20 a) Vault(a, "liquidity") {}

    /// How much of the assets the open positions of traders use.
    function open(uint256 a) external {
        used = a;
    }

    function tradersWin(uint256 a) external {
        IERC20(asset()).safeTransfer(msg.sender, a);
    }

    function tradersLose(uint256 a) external {
        IERC20(asset()).safeTransferFrom(msg.sender, address(this), a);
    }

    function liquidity() public view override returns (uint256) {
        return type(uint256).max >> 64;
    }

    function _withdraw(address c, address r, address o, uint256 assets, uint256 shares) internal override {
        require(assets + used <= totalAssets(), "utilization too high");
        super._withdraw(c, r, o, assets, shares);
    }
}

/// Charges a fee of a deposit and of a withdrawal, in basis points. The fees go to an address of nobody.
contract FeeVault is Vault {
    using Math for uint256;
    using SafeERC20 for IERC20;

    address private constant FEES = address(0xfee);
    uint256 public entryFee;
    uint256 public exitFee;

    constructor(IERC20 a) Vault(a, "fees") {}

    function setFees(uint256 entry, uint256 exit) external {
        (entryFee, exitFee) = (entry, exit);
    }

    function previewDeposit(uint256 assets) public view override returns (uint256) {
        return super.previewDeposit(assets - _feeIn(assets, entryFee));
    }

    function previewMint(uint256 shares) public view override returns (uint256) {
        uint256 assets = super.previewMint(shares);
        return assets + _feeOn(assets, entryFee);
    }

    function previewWithdraw(uint256 assets) public view override returns (uint256) {
        return super.previewWithdraw(assets + _feeOn(assets, exitFee));
    }

    function previewRedeem(uint256 shares) public view override returns (uint256) {
        uint256 assets = super.previewRedeem(shares);
        return assets - _feeIn(assets, exitFee);
    }

    function _deposit(address c, address r, uint256 assets, uint256 shares) internal override {
        super._deposit(c, r, assets, shares);
        _pay(_feeIn(assets, entryFee));
    }

    function _withdraw(address c, address r, address o, uint256 assets, uint256 shares) internal override {
        super._withdraw(c, r, o, assets, shares);
        _pay(_feeOn(assets, exitFee));
    }

    function _pay(uint256 fee) private {
        if (fee > 0) IERC20(asset()).safeTransfer(FEES, fee);
    }

    function _feeOn(uint256 assets, uint256 bps) private pure returns (uint256) {
        return assets.mulDiv(bps, 10_000, Math.Rounding.Ceil);
    }

    function _feeIn(uint256 assets, uint256 bps) private pure returns (uint256) {
        return assets.mulDiv(bps, bps + 10_000, Math.Rounding.Ceil);
    }
}

/// Works, but all its max* functions say 0, as those of Morpho Vault V2 do.
contract ZeroMaxVault is Vault {
    constructor(IERC20 a) Vault(a, "zero max") {}

    function maxDeposit(address) public pure override returns (uint256) {
        return 0;
    }

    function maxMint(address) public pure override returns (uint256) {
        return 0;
    }

    function maxWithdraw(address) public pure override returns (uint256) {
        return 0;
    }

    function maxRedeem(address) public pure override returns (uint256) {
        return 0;
    }

    function deposit(uint256 assets, address to) public override returns (uint256 shares) {
        shares = previewDeposit(assets);
        _deposit(msg.sender, to, assets, shares);
    }

    function withdraw(uint256 assets, address to, address owner) public override returns (uint256 shares) {
        shares = previewWithdraw(assets);
        _withdraw(msg.sender, to, owner, assets, shares);
    }

    function redeem(uint256 shares, address to, address owner) public override returns (uint256 assets) {
        assets = previewRedeem(shares);
        _withdraw(msg.sender, to, owner, assets, shares);
    }
}

/// While it lies, it pays only a part, and its previews, return values and events say that it pays all.
contract LyingVault is Vault {
    using SafeERC20 for IERC20;

    uint256 public keeps;

    constructor(IERC20 a) Vault(a, "lying") {}

    /// How much of every withdrawal it keeps, in basis points.
    function lie(uint256 bps) external {
        keeps = bps;
    }

    function _withdraw(address c, address r, address o, uint256 assets, uint256 shares) internal override {
        _burn(o, shares);
        IERC20(asset()).safeTransfer(r, assets - (assets * keeps) / 10_000);
        emit Withdraw(c, r, o, assets, shares);
    }
}
