// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// What of USDC (FiatTokenV2_2) a payment meets, with its messages and in the order of its checks: 6 decimals, the pause,
/// the denylist, and EIP-3009 with the signatures of keys and of smart wallets. Anybody may mint, pause and deny.
contract TestUsdc is ERC20, EIP712 {
    bytes32 private constant TRANSFER_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 private constant CANCEL_TYPEHASH = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
    /// A larger s would be a second signature of the same message.
    uint256 private constant MAX_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    mapping(address => bool) public denied;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;
    bool public paused;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
    event Pause();
    event Unpause();

    constructor(string memory n) ERC20(n, "USDC") EIP712(n, "2") {}

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier notDenied(address a) {
        require(!denied[a], "Blacklistable: account is blacklisted");
        _;
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function version() external pure returns (string memory) {
        return "2";
    }

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    function mint(address to, uint256 a) external whenNotPaused notDenied(msg.sender) notDenied(to) {
        _mint(to, a);
    }

    function deny(address a, bool d) external {
        denied[a] = d;
    }

    function pause() external {
        paused = true;
        emit Pause();
    }

    function unpause() external {
        paused = false;
        emit Unpause();
    }

    function approve(address spender, uint256 a) public override whenNotPaused returns (bool) {
        return super.approve(spender, a);
    }

    function transfer(address to, uint256 a)
        public
        override
        whenNotPaused
        notDenied(msg.sender)
        notDenied(to)
        returns (bool)
    {
        _move(msg.sender, to, a);
        return true;
    }

    function transferFrom(address from, address to, uint256 a)
        public
        override
        whenNotPaused
        notDenied(msg.sender)
        notDenied(from)
        notDenied(to)
        returns (bool)
    {
        require(a <= allowance(from, msg.sender), "ERC20: transfer amount exceeds allowance");
        _move(from, to, a);
        _spendAllowance(from, msg.sender, a);
        return true;
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
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public whenNotPaused notDenied(from) notDenied(to) {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        bytes32 message =
            keccak256(abi.encode(TRANSFER_TYPEHASH, from, to, value, validAfter, validBefore, nonce));
        _use(from, nonce, message, signature);
        emit AuthorizationUsed(from, nonce);
        _move(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) public whenNotPaused {
        _use(authorizer, nonce, keccak256(abi.encode(CANCEL_TYPEHASH, authorizer, nonce)), signature);
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function _use(address authorizer, bytes32 nonce, bytes32 message, bytes memory signature) private {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
        bytes32 digest = _hashTypedDataV4(message);
        // Code at the signer decides alone, also that of an account with a delegation (EIP-7702).
        bool isSigned = authorizer.code.length > 0
            ? SignatureChecker.isValidERC1271SignatureNow(authorizer, digest, signature)
            : _signer(digest, signature) == authorizer;
        require(isSigned, "FiatTokenV2: invalid signature");
        authorizationState[authorizer][nonce] = true;
    }

    function _signer(bytes32 digest, bytes memory signature) private pure returns (address signer) {
        require(signature.length == 65, "ECRecover: invalid signature length");
        bytes32 r;
        bytes32 s;
        assembly ("memory-safe") {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
        }
        uint8 v = uint8(signature[64]);
        require(uint256(s) <= MAX_S, "ECRecover: invalid signature 's' value");
        require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
        signer = ecrecover(digest, v, r, s);
        require(signer != address(0), "ECRecover: invalid signature");
    }

    function _move(address from, address to, uint256 a) private {
        require(to != address(0), "ERC20: transfer to the zero address");
        require(a <= balanceOf(from), "ERC20: transfer amount exceeds balance");
        _transfer(from, to, a);
    }
}
