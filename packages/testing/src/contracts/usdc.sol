// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";

/// What of USDC a payment meets: 6 decimals, EIP-3009 with the signatures of keys and of smart wallets, and the
/// denylist. Anybody may mint and deny.
contract TestUsdc is ERC20, ERC3009 {
    mapping(address => bool) public denied;

    constructor(string memory n) ERC20(n, "USDC") EIP712(n, "2") {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function version() external pure returns (string memory) {
        return "2";
    }

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    function mint(address to, uint256 a) external {
        _mint(to, a);
    }

    function deny(address a, bool d) external {
        denied[a] = d;
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) public override {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// As USDC has had it since its version 2.2.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        bytes32 hash = _hashTypedDataV4(
            keccak256(abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce))
        );
        require(SignatureChecker.isValidSignatureNow(from, hash, signature), "FiatTokenV2: invalid signature");
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    function _update(address f, address t, uint256 v) internal override {
        require(!denied[f] && !denied[t], "Blacklistable: account is blacklisted");
        super._update(f, t, v);
    }
}
