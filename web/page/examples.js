// The built-in examples.

export const EXAMPLES = [
  {
    title: "A primer on SARS-CoV-2",
    command: "search",
    first: { text: ">nCoV-2019_1_LEFT\nACCAACCAACTTTCGATCTCTTGT\n>nCoV-2019_1_RIGHT\nCATCTTTAAGATGTTGACGTGCCTC\n" },
    second: { file: "sars2.fa" },
    options: { "max-edits": "3" },
  },
  {
    title: "Guides with the PAM NGG on SARS-CoV-2",
    command: "search",
    first: { text: ">guide_1\nTTGGTTGGTTTGAAAGCTAG\n>guide_2\nTCCTTTGTGAATTTCCAAGC\n" },
    second: { file: "sars2.fa" },
    options: { "max-edits": "6", pam: "NGG", "no-indels": "yes" },
  },
  {
    title: "Two proteins: hemoglobin alpha and beta",
    command: "align",
    first: {
      text: ">sp|P69905|HBA_HUMAN Hemoglobin subunit alpha\nMVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHG\nKKVADALTNAVAHVDDMPNALSALSDLHAHKLRVDPVNFKLLSHCLLVTLAAHLPAEFTP\nAVHASLDKFLASVSTVLTSKYR\n",
    },
    second: {
      text: ">sp|P68871|HBB_HUMAN Hemoglobin subunit beta\nMVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPK\nVKAHGKKVLGAFSDGLAHLDNLKGTFATLSELHCDKLHVDPENFRLLGNVLVCVLAHHFG\nKEFTPPVQAAYQKVVAGVANALAHKYH\n",
    },
    options: {},
  },
  {
    title: "ONT reads on SARS-CoV-2",
    command: "align",
    first: { file: "ont_sars2.fq.gz" },
    second: { file: "sars2.fa" },
    options: { preset: "map-ont" },
  },
];
